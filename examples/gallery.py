"""Every explanation as a figure, on generated data, with a page that shows them all.

    python examples/gallery.py --output gallery

``--width`` squeezes the figures: 1 is their own size, 0.6 that of a narrow column.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from seplearn import TSLRegressor, datasets, explain

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>seplearn: explanations</title>
<meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
figure{margin:2.5rem 0}img{max-width:100%;height:auto}figcaption{color:#444}
code{background:#f3f3f3;padding:.1em .3em}</style><h1>Explanations</h1>"""


def figures() -> Iterator[tuple[str, str, Any]]:
    """Name of the file, the call, and what it returns."""
    X, y = datasets.rents(random_state=0)
    model = TSLRegressor(n_stages=4, n_bootstrap=50, random_state=0, n_jobs=-1).fit(X, y)
    yield "curves", "curves(model, 0)", explain.curves(model, 0)
    for name in ("area", "distance", "district", "lift"):
        result = explain.partial_dependence(model, name)
        yield f"pd_{name}", f'partial_dependence(model, "{name}")', result
    yield (
        "pd_floor_lift",
        'partial_dependence(model, ["floor", "lift"])',
        (explain.partial_dependence(model, ["floor", "lift"])),
    )
    yield (
        "pd_area_distance",
        'partial_dependence(model, ["area", "distance"])',
        (explain.partial_dependence(model, ["area", "distance"])),
    )
    yield "ice", 'ice(model, "floor")', explain.ice(model, "floor")
    yield "importance", "importance(model)", explain.importance(model)
    yield "local", "local(model, X, 7)", explain.local(model, X, 7)
    yield "roles", "roles(model)", explain.roles(model)
    yield (
        "stages",
        'stages(model, {"district": "harbour"})',
        (explain.stages(model, {"district": "harbour"})),
    )
    yield (
        "map",
        'maps(model, 0, ("distance", "district"))',
        (explain.maps(model, 0, ("distance", "district"))),
    )
    yield "shapley_one", "shapley(model, X[7:8])", explain.shapley(model, X[7:8])
    yield "shapley", "shapley(model, X[:500])", explain.shapley(model, X[:500], n_jobs=-1)
    yield "interactions", "interactions(model)", explain.interactions(model)
    yield "reconstruct", "reconstruct(model, 0)", explain.reconstruct(model, 0)
    X, y = datasets.masked_interaction(as_frame=True, random_state=0)
    masked = TSLRegressor(n_stages=2, n_bootstrap=50, random_state=0, n_jobs=-1).fit(X, y)
    yield "masked_curves", "curves(masked, 0)", explain.curves(masked, 0)
    yield "masked_tilt", "tilt(masked, 0)", explain.tilt(masked, 0)
    yield "masked_ice", 'ice(masked, "x1")', explain.ice(masked, "x1")
    yield "masked_pd", 'partial_dependence(masked, "x1")', explain.partial_dependence(masked, "x1")
    random = np.random.default_rng(0)
    x = random.uniform(-4, 4, size=(2_000, 2))
    wave = np.exp(np.sin(x[:, 0]) * np.cos(x[:, 1])) + x[:, 0]
    bagged = TSLRegressor.paper(1, n_grids=100, trim=0.9, keep_bags=True, random_state=0, n_jobs=-1)
    yield "bags", "bags(bagged, 0)", explain.bags(bagged.fit(x, wave), 0)


OPTIONS: dict[str, dict[str, Any]] = {
    "pd_floor_lift": {"stage": "all"},
    "pd_district": {"stage": "all"},
    "masked_pd": {"stage": "all"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("gallery"))
    parser.add_argument("--width", type=float, default=1.0)
    parser.add_argument("--dpi", type=int, default=100)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    page = [HEAD]
    for name, call, result in figures():
        figure = result.plot(**OPTIONS.get(name, {}))
        width, height = figure.get_size_inches()
        figure.set_size_inches(width * arguments.width, height * max(arguments.width, 0.8))
        figure.savefig(arguments.output / f"{name}.png", dpi=arguments.dpi)
        words = "".join(f", {key}={value!r}" for key, value in OPTIONS.get(name, {}).items())
        code = html.escape(f"explain.{call}.plot({words[2:]})")
        page.append(f"<figure><figcaption><code>{code}</code></figcaption>")
        page.append(f'<img src="{name}.png" alt="{html.escape(call)}"></figure>')
        if isinstance(result, explain.Roles):
            print(result)
            page.append(f"<pre>{html.escape(str(result))}</pre>")
        print(f"wrote {arguments.output / name}.png")
    (arguments.output / "index.html").write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
