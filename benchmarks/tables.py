"""Write the figures of the README from the result files: no number there is typed by hand.

python -m benchmarks.tables
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
START = "<!-- figures: written by benchmarks/tables.py from the result files -->"
END = "<!-- end of figures -->"


def read(name: str) -> dict[str, Any]:
    path = Path(__file__).parent / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def speed_table(speed: dict[str, Any]) -> list[str]:
    where = speed["machine"]
    lines = [
        (
            f"Beside the paper authors' `tensorsl` {where['versions']['tensorsl']}, "
            f"{speed['threads']} threads each, fits alternating in one run ({where['cores']} cores "
            f"of {where['processor']}, {where['memory_gib']:g} GiB):"
        ),
        "",
        "| fit | times faster | RMSE, ours / theirs | peak memory, ours / theirs |",
        "|---|---|---|---|",
    ]
    for case, result in speed.items():
        if isinstance(result, dict) and "times_faster" in result:
            memory = f"{result['memory_ratio']:.2f}" if "memory_ratio" in result else ""
            lines.append(
                f"| {case} | {result['times_faster']:.1f} | {result['rmse_ratio']:.3f} | {memory} |"
            )
    return lines


def fidelity_table(fidelity: dict[str, Any]) -> list[str]:
    lines = [
        (
            "The paper's own test RMSE, with its published tuned parameters on its split (1 is "
            "equal, below 1 is better; geometric mean over datasets):"
        ),
        "",
        "| stages, reading of the parameters | datasets | ours / published | worst dataset |",
        "|---|---|---|---|",
    ]
    for case, numbers in fidelity["summary"].items():
        lines.append(
            f"| {case} | {numbers['datasets']} | {numbers['geometric_mean_ratio']:.3f} "
            f"| {numbers['worst_ratio']:.3f} |"
        )
    return lines


def memory_line(memory: dict[str, Any]) -> list[str]:
    largest = memory["fits"][-1]
    return [
        (
            f"A default fit of {largest['rows']:,} x {largest['columns']} float32 rows peaks at "
            f"{largest['peak_gib']:.1f} GiB: {largest['bytes_per_row']:.0f} bytes a row, of which "
            f"{largest['table_bytes_per_row']:.0f} are the table itself."
        )
    ]


def main() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    speed, fidelity = speed_table(read("speed")), fidelity_table(read("fidelity"))
    tables = [*speed, "", *fidelity, "", *memory_line(read("memory"))]
    readme.write_text(f"{before}{START}\n{chr(10).join(tables)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
