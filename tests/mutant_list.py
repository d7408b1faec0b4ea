"""The mutants of ``make mutants``, by file: one change each, and the tests that must notice it.

A mutant is (old text, new text), as they stand in the file; the old text must be there exactly
once. Take none that changes nothing, such as a bound that is never reached: it could only survive.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    file: str  # in src/seplearn
    tests: tuple[str, ...]  # what pytest is to run
    mutants: tuple[tuple[str, str], ...]
    compiled: bool = False  # for what the interpreter does not see; a compilation for each mutant


ROWS = Group(
    "kernels/rows.py",
    ("tests/kernels/test_four_rows.py", "tests/kernels/test_sweep.py"),
    (
        ("np.uint64(row))\n        add_row(", "np.uint64(0))\n        add_row("),
        ("        add_row(entered, products, residual, weight, sums, np.uint64(row))\n", ""),
        ("uv += wu * v", "uv += wu * u"),
        ("rv += wv * r\n", "rv += wu * r\n"),
        ("rruu += wu * u * r * r", "rruu += wu * u"),
        ("rrvv += wv * v * r * r", "rrvv += wv * v"),
        ("uuuu += wu * u * u * u", "uuuu += wu * u * wu * u"),
        ("vvvv += wv * v * v * v", "vvvv += wu * u * u * u"),
        ("total += weighted\n", "total += residual[i]\n"),
        ("mass += working[i]", "mass += 1.0"),
        ("square += weighted * residual[i]", "square += residual[i] * residual[i]"),
        ("r = residual[i] - step[np", "r = residual[i] + step[np"),
        ("        residual[i] = r\n        b =", "        b ="),
        ("sums[b, 0] += weight[i]\n", "sums[b, 0] += 1.0\n"),
        ("sums[b, 1] += weight[i] * r", "sums[b, 1] += weight[i] * residual[i] * r"),
        ("residual[i] -= step[np.uint64(left[i])]", "residual[i] += step[np.uint64(left[i])]"),
        ("products[1, i] = scale[0] - scale[1]", "products[1, i] = scale[0] + scale[1]"),
        (
            "products[1, i] += curves[0, b] - curves[1, b]",
            "products[1, i] += curves[0, b] + curves[1, b]",
        ),
        ("if present[1] else 0.0", "if present[0] else 0.0"),
        ("residual[i] -= products[0, i] - products[1, i]", "residual[i] -= products[0, i]"),
        ("residual[i] -= effects[np.uint64(offset[j] +", "residual[i] -= effects[np.uint64("),
        ("everyone += weight[i]", "everyone += working[i]"),
        ("again = w / weight[i] if weight[i] > 0.0 else 0.0", "again = 1.0"),
    ),
)

FOUR_ROWS = Group(
    "kernels/four_rows.py",
    ("tests/kernels/test_four_rows.py",),
    (
        (") + (minus - products[1, i])", ") - (minus - products[1, i])"),
        ("products[0, i], products[1, i] = plus, minus", "products[0, i] = plus"),
        ("b = np.uint64(entered[i])", "b = np.uint64(0)"),
        (
            "w_minus * minus, w_plus * minus, w_minus * r",
            "w_minus * minus, w_plus * plus, w_minus * r",
        ),
        ("w_plus * minus, w_minus * r", "w_plus * minus, w_plus * r"),
        ("= weight[i] * plus, weight[i] * minus", "= plus, weight[i] * minus"),
    ),
)
EMITTED_ROWS = Group(
    "kernels/four_rows.py",
    ("tests/kernels/test_four_rows.py",),
    (
        ("_EVEN, _ODD = (0, 4, 2, 6), (1, 5, 3, 7)", "_EVEN, _ODD = (0, 4, 2, 6), (1, 5, 2, 7)"),
        ("_LOW, _HIGH = (0, 1, 4, 5), (2, 3, 6, 7)", "_LOW, _HIGH = (0, 1, 4, 5), (2, 3, 7, 6)"),
        ("builder.fsub(after, before)", "builder.fadd(after, before)"),
        (
            "self.read(place), changes[0]), changes[1])",
            "self.read(place), changes[1]), changes[0])",
        ),
        ("        self.write(rest, place)\n", ""),
        ("            self.write(after, place)\n", ""),
        ("w_minus = times(weights, plus), times(weights, minus)", "w_minus = plus, minus"),
        ("fifth = times(w_minus, rest)", "fifth = times(w_plus, rest)"),
        ("self.builder.load(last), own), last)", "self.builder.load(place), own), last)"),
        ('all(array.layout == "C" for array in arrays)', "True"),
        (" if _are_whole(*arrays) else None", ""),
        ("if not _are_whole(left, factors, products, residual):", "if False:"),
    ),
    compiled=True,
)

SWEEP = Group(
    "fitting/joint/sweep.py",
    ("tests/kernels/test_sweep.py",),
    (
        ("        self._sweep_effects(rules.of_kernels, noise)\n", ""),
        ("loss)\n        if stop[0]:\n", "loss)\n        if False:\n"),
        ("    return settle(carrier, curves, rules, loss)[0]", "    return mean_square"),
        ("            loss = _sweep_falling(", "            _sweep_falling("),
        ("mean_square, mass, loss = settle(", "mean_square, mass, _ = settle("),
        ("            return shift, after\n", "            return shift, before\n"),
        ("    carrier.each(rows.renew, rules.loss)\n", ""),
        ("    if rules.fit_intercept:\n", "    if True:\n"),
        ("curves, total / working, rules.loss,", "curves, 0.5 * total / working, rules.loss,"),
        ("curves.intercept += shift", "curves.intercept -= shift"),
        ("    carrier.each(rows.lower, shift)\n", ""),
        ("noise = Noise(mean_square, inflation, mass)", "noise = Noise(mean_square, 1.0, mass)"),
        ("self.carrier.total(rows.moments, k)", "self.carrier.total(rows.moments, 0)"),
        ("negligible: float = 0.1", "negligible: float = 0.2"),
        ("            stages.rest[k, visits] -= 1\n", ""),
        ("                effects.rest[j] -= 1\n", ""),
        (
            "        stages.rest[k, [j for j in visits if j not in moving]] -= 1\n",
            "",
        ),
        ("if stages.rest[k, j] == 0]", "if True]"),
        ("            if resting[j]:\n", "            if False:\n"),
        ("[j for j in axes.order if own.active[j]]", "list(axes.order)"),
        (
            "            left = j\n        self.carrier.each(rows.leave, k",
            "        self.carrier.each(rows.leave, k",
        ),
        ("            left = j\n        if left >= 0:", "        if left >= 0:"),
        ("        self.carrier.each(rows.leave, k, left, factors)\n", ""),
        ("            self.carrier.each(rows.leave_effect, left, step)\n", "            pass\n"),
        ("step = self._effects, np.zeros(", "step = self._effects, np.ones("),
        ("moments[VV] < IDLE * noise.mass", "moments[VV] < -1.0"),
        ("self.curves.intercept = float(level[CONSTANT])", "pass"),
        ("np.array([self.curves.intercept, 0.0, 0.0])", "np.zeros(3)"),
        ("_MOST_HALVINGS = 10", "_MOST_HALVINGS = 0"),
        ("        if rules.loss.overshoots:\n", "        if False:\n"),
        ("        other.curvature = own.curvature\n", "        pass\n"),
        ("share = rules.loss.per_half_square / mass", "share = rules.loss.per_half_square"),
        ("<= bound * (1.0 + _ROUNDING):", "<= bound * 2.0:"),
        ("        curves.move_halfway_to(before)\n", ""),
        ("        put_on_rows(carrier, curves, axes)\n", ""),
        ("square - shift * (2.0 * total - shift * working)", "square - shift * total"),
        ("return rules.loss.noise(square / mass), mass", "return square / mass, mass"),
        ("loss.noise(square / mass)", "loss.noise(square / working)"),
        ("        if after <= before:\n", "        if True:\n"),
        ("        shift *= 0.5\n", "        shift *= 0.25\n"),
        ("carrier.each(rows.lower, -shift)", "carrier.each(rows.lower, shift)"),
    ),
)

ROW_BLOCKS = Group(
    "fitting/joint/rows.py",
    ("tests/fitting/test_carriers.py", "tests/fitting/test_refinement.py"),
    (
        ("y, w = target[part], weight[part]", "y, w = target[part].copy(), weight[: len(own.T)]"),
        ("        first += len(own)\n", ""),
        ("weight=own, working=own", "working=own"),
        ("residual=block.residual.copy()", "residual=block.residual"),
        ("[pair.copy() for pair in block.products]", "list(block.products)"),
        ("return self.response - self.residual", "return self.residual"),
        ("block.residual += response - block.response", "pass"),
        ("        block.response = response\n", ""),
        (
            "weighted_residuals(block.residual, block.working, block.weight)",
            "weighted_residuals(block.residual, block.weight, block.weight)",
        ),
        ("    block.residual -= amount", "    block.residual += amount"),
        ("    block.products.append(products)", "    block.products.insert(0, products)"),
        ("    block.products.clear()\n", ""),
        ("block.response - block.offset - intercept", "block.response - block.offset"),
        ("    kernels.take_off_effects(block.codes, offset, effects, block.residual)\n", ""),
        ("size += np.abs(values)", "size += values"),
        ("        net += values\n", ""),
        ("size += plus + minus", "size += plus"),
        ("net += plus - minus", "net += plus + minus"),
    ),
)

CARRIERS = Group(
    "fitting/carriers.py",
    ("tests/fitting/test_carriers.py",),
    (
        ("return tree_sum(parts)", "return tree_sum(parts[1:])"),
        ("return tree_sum(parts)", "return tree_sum(parts[::-1])"),
    ),
)

HUBER = Group(
    "losses/huber.py",
    ("tests/losses/test_losses.py",),
    (
        ("_THRESHOLD = 1.345", "_THRESHOLD = 1.5"),
        ("_NORMAL = 1.4826", "_NORMAL = 1.0"),
        ("_LOCATION_STEPS = 50", "_LOCATION_STEPS = 1"),
        ("rate: float = 0.5", "rate: float = 1.0"),
        ("np.abs(residual - weighted_median(residual, weight))", "np.abs(residual)"),
        ("if scale > 0 else math.inf", "if scale > 0 else 0.0"),
        ("own = self.suited_to(target, weight)", "own = self"),
        ("weights=own._weights(target - level, weight))", "weights=weight)"),
        ("np.clip(target - eta, -self.threshold, self.threshold)", "target - eta"),
        (
            "return Working(near, weight)",
            "return Working(near, 0.5 * weight)",
        ),
        ("(2.0 * off - self.threshold)", "(2.0 * off + self.threshold)"),
        ("off <= self.threshold, off**2", "off <= 2.0 * self.threshold, off**2"),
        ("if not self._bends:\n            squared", "if False:\n            squared"),
        ("np.maximum(np.abs(residual), self.threshold)", "np.abs(residual) + self.threshold"),
        ("weight * (self.threshold / off)", "self.threshold / off"),
        ("below = np.cumsum(weight[order])", "below = np.cumsum(weight)"),
        ("below[-1] * share)", 'below[-1] * share, "right")'),
    ),
)

WEIGHTS = Group(
    "table/training.py",
    ("tests/table/test_training.py",),
    (
        ("exact_sum(shares**2)", "exact_sum(shares)"),
        ("while (part := math.fsum(rest)) != 0.0:", "for part in (math.fsum(rest),):"),
        ("0.5 <= mean <= MOST_PER_ROW", "0.5 <= mean"),
        ("0.5 <= mean <= MOST_PER_ROW", "mean <= MOST_PER_ROW"),
        ("if is_mean_of_rows and all(", "if False and all("),
        ("min(largest, effective) if is_mean_of_rows", "effective if is_mean_of_rows"),
        ("effective * total < _FEW_OF_ALL * n_rows", "False"),
        ("effective * total < _FEW_OF_ALL * n_rows", "effective < _FEW_OF_ALL * n_rows"),
        ("return shares * self.rows_of_largest", "return shares"),
    ),
    compiled=True,
)

WEIGHTS_OF_CLASSES = Group(
    "estimators/labels.py",
    ("tests/estimators/test_classifier.py",),
    (
        ("counted: FloatArray = weights * effective", "counted: FloatArray = weights"),
        ("weights = 1.0 / shares", "weights = 1.0 / shares**0.5"),
        ("float(shares @ weights**2)", "float(shares @ weights)"),
    ),
    compiled=True,
)

SQUARED = Group(
    "losses/squared_error.py",
    ("tests/losses/test_losses.py",),
    (
        ("np.average(target - offset, weights=weight)", "np.average(target - offset)"),
        ("return Working(target, weight)", "return Working(target, weight.copy())"),
        ("(target - eta) ** 2", "np.abs(target - eta)"),
    ),
)

LINK = Group(
    "losses/links.py",
    ("tests/losses/test_links.py",),
    (
        ("LARGEST_LOG = 700.0", "LARGEST_LOG = 710.0"),
        ("LARGEST_LOG = 700.0", "LARGEST_LOG = 600.0"),
        ("small, 0.0)) / (1.0 + small)", "small, 0.0)) / (2.0 + small)"),
    ),
)

BLOCK = Group(
    "kernels/block.py",
    ("tests/kernels/test_block.py", "tests/kernels/test_sweep.py"),
    (
        ("SMOOTH_BINS = 20", "SMOOTH_BINS = 21"),
        ("SMOOTH_BINS = 20", "SMOOTH_BINS = 19"),
        ("HOLD = 1e-4", "HOLD = 1e-5"),
        ("LEAST_BACKBONE = 1e-3", "LEAST_BACKBONE = 1e-2"),
        ("_LOWEST, _HIGHEST = 1e-9,", "_LOWEST, _HIGHEST = 1e-8,"),
        ("(1e3, 1e5, 1e7)", "(1e4, 1e5, 1e7)"),
        ("(1e3, 1e5, 1e7)", "(1e3, 1e6, 1e7)"),
        ("(1e3, 1e5, 1e7)", "(1e3, 1e5, 1e8)"),
        ("_LARGEST_CHANGE = 10.0", "_LARGEST_CHANGE = 20.0"),
        ("_FEWEST_FREEDOM = 1e-4", "_FEWEST_FREEDOM = 1e-5"),
        ("_STRETCHES = 50.0", "_STRETCHES = 40.0"),
        ("length * length * mu[SIZE]", "length * mu[SIZE]"),
        ("_SMALLEST_SQUARE = 1e-12", "_SMALLEST_SQUARE = 1e-13"),
        ("uu += squares - cross", "uu += squares + cross"),
        ("vv += squares + cross", "vv += squares"),
        ("if n_ordered > 1 else 0.0", "if n_ordered > 0 else 0.0"),
        ("(mu[SIZE] + HOLD / n_bins)", "(mu[SIZE] + HOLD)"),
        ("to_end = min(b, n_ordered - 1 - b)", "to_end = min(b, n_bins - 1 - b)"),
        ("first * (1.0 if to_end == 0 else 2.0)", "first * 2.0"),
        ("5.0 if to_end == 1 else 6.0", "6.0"),
        ("2.0 if b == 0 or b + 2 == n_ordered else 4.0", "2.0 if b == 0 else 4.0"),
        ("next_but_one += second", "next_but_one -= second"),
        ("pull += penalty[k, here] * curve[after]", "pull -= penalty[k, here] * curve[after]"),
        ("+ penalty[k, before] * curve[before]", "+ penalty[k, here] * curve[before]"),
        ("block.step[here] = -pull_of(penalty, block.curve, i, stride)", "block.step[here] = 0.0"),
        ("s11 + s22 - 2.0 * s12 + 2.0 * both", "s11 + s22 - 2.0 * s12"),
        ("t1 - t2 - both", "t1 - t2"),
        ("= s11 - s22 + 2.0 * gap", "= s11 - s22"),
        ("s11 + s22 + 2.0 * s12 + 2.0 * both", "s11 + s22 + 2.0 * s12"),
        ("t1 + t2 - gap", "t1 + t2"),
        (
            "        if stride == 2:\n            system[1, beta]",
            "        if True:\n            system[1, beta]",
        ),
        ("scale = 0.5 if k == 0 else 1.0", "scale = 0.5 if k < 2 else 1.0"),
        ("scale = 0.5 if k == 0 else 1.0", "scale = 0.5 if k != 1 else 1.0"),
        ("before += 0.5 * energy * (s11 + s22)", "before += 0.0"),
        ("+ s22 * (minus * minus - 1.0)", "+ s22 * (minus - 1.0)"),
        ("total += plus * (0.5 * plus * s11 - t1)", "total += plus * (0.5 * plus * s11)"),
        ("0.5 * energy * size - plus * minus * s12", "0.5 * energy * size + plus * minus * s12"),
        (
            "plus_weight[b] = sums[b, PLUS_PLUS] + block.penalty[0, i]",
            "plus_weight[b] = sums[b, PLUS_PLUS] + 1.0",
        ),
        ("minus_weight[b] = sums[b, MINUS_MINUS]", "minus_weight[b] = sums[b, PLUS_PLUS]"),
        ("make_monotone(plus, plus_weight, direction)", "make_monotone(plus, plus_weight, 1)"),
        ("minus_weight, -direction)", "minus_weight, direction)"),
        ("beta, delta = plus[b] if present[0] else minus[b], 0.0", "beta, delta = minus[b], 0.0"),
        ("beta, delta = plus[b] if present[0] else minus[b], 0.0", "beta, delta = plus[b], 0.0"),
        ("if stride == 2 else 0.0", "if free[0] else 0.0"),
        ("        if free[1]:\n            step[k]", "        if True:\n            step[k]"),
        ("0.5 * (plus[b] - minus[b])", "0.5 * (plus[b] + minus[b])"),
        ("if change <= 1e-12 * (size + at_rest) or share == 0.0:", "if True:"),
        ("0.5 * share if share > 1e-2", "0.25 * share if share > 1e-2"),
        ("share if share > 1e-2 else", "share if share > 1e-1 else"),
        (
            "share if share > 1e-2 else 0.0\n",
            "share if share > 1e-2 else 0.0\n        if share == 0.0:\n            break\n",
        ),
        ("block.curve[i] += share * block.step[i]", "block.curve[i] += 0.0 * block.step[i]"),
        ("block.curve[i] += share * block.step[i]", "block.curve[i] += block.step[i]"),
        (
            "start, stride, curvature[side], n_bins, n_ordered)",
            "start, stride, curvature[0], n_bins, n_ordered)",
        ),
        (
            "min(max(block.step[i], -rules.largest_step), rules.largest_step)",
            "max(block.step[i], -rules.largest_step)",
        ),
        ("    if direction != 0:\n        constrain", "    if direction > 0:\n        constrain"),
        (
            "    take_step(block, sums, stride, energy, free, factors)\n",
            "    loss_change(block, sums, stride, energy, free, 1.0, factors)\n",
        ),
        ("return max(uu, LEAST_BACKBONE * vv), vv", "return vv, vv"),
        ("ends + middle - 2.0 * side", "ends + middle - side"),
        ("+ 2.0 * (prior[2, here] - system", "- 2.0 * (prior[2, here] - system"),
        ("ends + 4.0 * (middle - side)", "ends + 2.0 * (middle - side)"),
        (
            "prior[k, here] = system[np.uint64(k * stride), here] = penalty[k, here]",
            "prior[k, here] = system[np.uint64(k * stride), here] = penalty[k, i | (stride - 1)]",
        ),
        (" - block.system[0, np.uint64(i)])", ")"),
        ("size += curve[np.uint64(i)] * curve[np.uint64(i)]", "size += abs(curve[np.uint64(i)])"),
        ("- curve[np.uint64(i)]) ** 2", "- curve[np.uint64(i)])"),
        ("of_first += freedom_of", "of_first -= freedom_of"),
        ("(ends - 2.0 * curve[", "(ends - curve["),
        ("of_second += freedom_of", "of_second -= freedom_of"),
        ("t = max(mu[c] * curvature * trace[c]", "t = max(mu[c] * trace[c]"),
        ("change = noise * t / max", "change = t / max"),
        ("_SMALLEST_SQUARE) / curvature /", "_SMALLEST_SQUARE) /"),
        ("max(change**rate,", "max(change,"),
        ("1.0 / _LARGEST_CHANGE)", "0.5)"),
        ("        freedom += t\n", "        freedom = t\n"),
        ("both, gap = energy * (s11 + s22), energy * (s11 - s22)", "both = gap = energy * s11"),
        (
            "= curves[side, np.uint64(first + b)]",
            "= curves[1 - side, np.uint64(first + b)]",
        ),
        (
            "factors)\n    for side in range(2):\n        if free[side]:\n",
            "factors)\n    for side in range(2):\n        if True:\n",
        ),
        ("stages.freedom[k, j, side] = learn", "stages.freedom[k, j, 0] = learn"),
        ("reach_of(sums, curves, first, side)", "reach_of(sums, curves, first, 0)"),
        ("sign = -2.0 if side == 0 else 2.0", "sign = 2.0"),
        ("sign = -2.0 if side == 0 else 2.0", "sign = -2.0"),
        ("value = curves[side, ", "value = curves[0, "),
        ("first += w * value\n", "first += value\n"),
        ("second += w * value * value", "second += w * value"),
        ("second - first * first / mass, 0.0)", "second, 0.0)"),
        ("                    noise[side],\n", "                    noise[0],\n"),
        (
            "                    rate,\n                    n_bins",
            "                    1.0,\n                    n_bins",
        ),
        ("        curvature += sums[b, 0]\n", "        curvature += 1.0\n"),
        ("block.system[0, here] += sums[b, 0]", "block.system[0, here] += 1.0"),
        ("block.step[here] += sums[b, 1]", "block.step[here] = sums[b, 1]"),
        (
            "ordered[b] = curve[start + b] + block.step[start + b]",
            "ordered[b] = block.step[start + b]",
        ),
        ("make_monotone(ordered, stiffness, direction)", "make_monotone(ordered, stiffness, 1)"),
        ("stiffness[b] = sums[b, 0] + block.penalty[0, start + b]", "stiffness[b] = 1.0"),
        ("share = falling_share(block, sums, start, stride)", "share = 1.0"),
        ("curve[here] += step[b]", "curve[here] += block.step[here]"),
        ("        values[np.uint64(first + b)] = curve[here]\n", ""),
        ("    if rate == 0.0:\n        return 0.0\n", ""),
        ("slope, bend = -slope, 2.0 * bend", "slope, bend = slope, 2.0 * bend"),
        ("slope, bend = -slope, 2.0 * bend", "slope, bend = -slope, -2.0 * bend"),
        ("min(max(slope / bend, 0.0), 1.0)", "max(slope / bend, 0.0)"),
        ("min(max(slope / bend, 0.0), 1.0)", "min(slope / bend, 1.0)"),
        ("first, last = 2, block.curve", "first, last = 3, block.curve"),
        ("first, last = 4, block.curve", "first, last = 5, block.curve"),
        ("share * largest > _SERIES", "share * largest > 4.0"),
        ("= even + odd, even - odd", "= even + odd, even + odd"),
        ("math.exp(-share * step[i])", "math.exp(-step[i])"),
        ("even * x + 1.0 / 24.0", "even * x + 1.0 / 25.0"),
        ("bend += sums[b, 0] * move * move", "bend += move * move"),
        ("stages.reach[k, j, side] = reach_of", "stages.reach[k, 0, side] = reach_of"),
        ("mu = stages.curves[k], stages.mu[k, j]", "mu = stages.curves[k], stages.mu[k, 0]"),
        (
            "values, mu = effects.values, effects.mu[j]",
            "values, mu = effects.values, effects.mu[0]",
        ),
    ),
)

SCALE = Group(
    "kernels/scale.py",
    ("tests/kernels/test_sweep.py",),
    (
        ("_LARGEST_SCALE_STEP = 0.3", "_LARGEST_SCALE_STEP = 0.4"),
        ("_LEAST_CURVATURE = 1e-6", "_LEAST_CURVATURE = 1e-5"),
        ("both, gap = energy * 0.5 * (uu + vv)", "both, gap = energy * (uu + vv)"),
        ("(uu + vv), energy * uv", "(uu + vv), -energy * uv"),
        ("(ru - both) / (uu + 2.0 * both), 0.0", "ru / (uu + 2.0 * both), 0.0"),
        ("second = uu + _LEAST_CURVATURE * vv + 2.0 * both,", "second = uu + 2.0 * both,"),
        ("cross = uv + 2.0 * gap", "cross = uv"),
        ("ru, rv = ru - both, rv - gap", "ru, rv = ru, rv"),
        ("(second * ru - cross * rv) / determinant", "(second * ru + cross * rv) / determinant"),
        ("return min(max(backbone, -bound), bound), min(", "return max(backbone, -bound), min("),
        ("bound), min(max(tilt, -bound), bound)", "bound), max(tilt, -bound)"),
        ("size + change - plus * minus * s12", "size + change + plus * minus * s12"),
        ("energy, backbone, tilt) > before:", "energy, backbone, tilt) > math.inf:"),
        ("backbone, tilt = 0.5 * backbone, 0.5", "backbone, tilt = 0.4 * backbone, 0.4"),
        ("_LEAST_LEFT = 0.5", "_LEAST_LEFT = 0.25"),
        (
            "spent += 0.5 * (freedom[j, 0] + freedom[j, 1])",
            "spent += freedom[j, 0] + freedom[j, 1]",
        ),
        ("    spent = 1.0\n", "    spent = 0.0\n"),
        (
            "local_noise(moments[UU], moments[RRUU], moments[UUUU],",
            "local_noise(moments[VV], moments[RRVV], moments[VVVV],",
        ),
        (
            "local_noise(moments[VV], moments[RRVV], moments[VVVV],",
            "local_noise(moments[UU], moments[RRUU], moments[UUUU],",
        ),
        ("carrying = square * square / max", "carrying = square / max"),
        ("max(carrying - spent, _LEAST_LEFT * carrying)", "carrying - spent"),
        ("max(inflation, carrying / left) if", "carrying / left if"),
        ("max(inflation, carrying / left) if", "inflation if"),
        ("float(residual / max(square, _TINY) * own)", "float(residual * own)"),
        ("local[0] = max(own, least)", "local[0] = own"),
        ("local[1] = max(own, least)", "local[1] = own"),
        ("least, inflation = noise.mean_square * noise.inflation,", "least, inflation = 0.0,"),
        (
            "least, inflation = noise.mean_square * noise.inflation,",
            "least, inflation = noise.mean_square,",
        ),
        ("    scale[0] += backbone\n", ""),
        ("scale[1] += tilt", "scale[1] -= tilt"),
        ("math.exp(backbone - tilt)", "math.exp(backbone + tilt)"),
        ("curvature[0], curvature[1] = moments[UU], moments[VV]", "curvature[0] = moments[UU]"),
        (
            "scale_step(moments, rules.energy * noise.mean_square,",
            "scale_step(moments, rules.energy,",
        ),
        (
            "stages.curvature[k], stages.scale[k], stages.freedom[k]",
            "stages.curvature[k], stages.scale[k], stages.freedom[0]",
        ),
    ),
)

SWEPT = Group(
    "kernels/sweep.py",
    ("tests/kernels/test_sweep.py",),
    (
        ("IDLE = 1e-14", "IDLE = -1.0"),
        ("room.moments[VV] < IDLE * noise.mass", "room.moments[VV] < IDLE"),
        ("_NEAR_ONE = 0.1 ", "_NEAR_ONE = 0.2 "),
        ("_REST = 3", "_REST = 2"),
        ("_STEADY = 0.05", "_STEADY = 0.5"),
        ("_STEADY = 0.05", "_STEADY = 0.0"),
        ("        if stop[0]:\n            return\n", ""),
        ("            if stop[0]:\n                break\n", ""),
        ("        sweep_effects(places, rows, effects, rules, noise, room)\n", ""),
        ("    if settles:\n        settle(rows", "    if False:\n        settle(rows"),
        (
            "        if settles:\n            settle(rows",
            "        if True:\n            settle(rows",
        ),
        ("    if fit_intercept:\n", "    if True:\n"),
        ("        level[CONSTANT] += shift\n", ""),
        ("            rows.residual[i] -= shift\n", "            pass\n"),
        ("square - shift * (2.0 * total - shift * working)", "square - shift * total"),
        ("spent = 2.0 * of_stages.shape[0] + 1.0", "spent = of_stages.shape[0] + 1.0"),
        ("spent = 2.0 * of_stages.shape[0] + 1.0", "spent = 2.0 * of_stages.shape[0]"),
        ("spent += of_stages[k, j, 0] + of_stages[k, j, 1]", "spent += of_stages[k, j, 0]"),
        ("        spent += of_effects[j]\n", "        pass\n"),
        ("min(spent, 0.5 * mass)", "min(spent, 0.9 * mass)"),
        ("    for j in visits:\n        if j >= 0:\n            rest[j] -= 1\n", ""),
        ("    return n_visits > 0", "    return True"),
        ("    rest[j] -= 1\n    return True", "    rest[j] = 0\n    return True"),
        ("    step[:] = 0.0\n", "    step[:] = 1.0\n"),
        ("step)\n        left = j\n    take_off", "step)\n    take_off"),
        ("    take_off(rows.codes[left], step, rows.residual)\n", ""),
        (
            "spent = solve_effect(places, effects, j, sums, inflated,",
            "spent = solve_effect(places, effects, j, sums, 1.0,",
        ),
        (
            "    if rules.rate > 0.0:\n        effects.freedom[j] = spent\n",
            "    effects.freedom[j] = spent\n",
        ),
        ("change += sums[b, 0] * step[b] * step[b]", "change += sums[b, 0] * step[b]"),
        ("is_steady = rules.rate == 0.0 or", "is_steady ="),
        (
            "    if is_steady and change < rules.negligible * inflated:",
            "    if change < rules.negligible * inflated:",
        ),
        ("change < rules.negligible * inflated:", "change < rules.negligible:"),
        ("factors)\n        left = j\n    apply_factors", "factors)\n    apply_factors"),
        ("    apply_factors(rows.codes[left], factors, products, rows.residual)\n", ""),
        ("energy = rules.energy * noise.mean_square", "energy = rules.energy"),
        ("rules.negligible * noise.mean_square * noise.inflation)", "rules.negligible)"),
        ("change -= 2.0 * plus * minus", "change -= plus * minus"),
        ("max(largest, abs(plus), abs(minus))", "max(largest, abs(plus))"),
    ),
)

TWINS = Group(
    "fitting/twins.py",
    ("tests/fitting/test_twins.py::test_few_rows_tell_most_stages_apart_but_never_twins",),
    (
        ("(1.0 - share) * logs[other]", "share * logs[other]"),
        ("float(self.has_constant))\n", "0.0)\n"),
        ("(self.values[one] + self.values[other])", "(self.values[one] - self.values[other])"),
        ("left = together - np.einsum", "left = together + np.einsum"),
        (
            "        return list(zip(one[~differ]",
            "        differ[:] = False\n        return list(zip(one[~differ]",
        ),
    ),
)

BANDED = Group(
    "kernels/banded.py",
    ("tests/kernels/test_banded.py",),
    (
        ("lower[2, b] * bands[2, b] - lower[1, a] * bands[1, a]\n    next_", "0.0\n    next_"),
        ("next_ = bands[1, here] - bands[2, a] * lower[1, a]", "next_ = bands[1, here]"),
        ("    bands[1, here] = next_\n", ""),
        ("np.uint64(i - stride), np.uint64(i - 2 * stride)", "np.uint64(i - 1), np.uint64(i - 2)"),
        ("x[here] - lower[2, b] * x[b] - lower[1, a] * x[a]", "x[here] - lower[1, a] * x[a]"),
        ("- lower[2, here] * x[b] - lower[1, here] * x[a]", "- lower[1, here] * x[a]"),
        ("z2 = -l1 * inverse[1, a] - l2 * inverse[0, b]", "z2 = -l1 * inverse[1, a]"),
        ("z1 = -l1 * inverse[0, a] - l2 * inverse[1, a]", "z1 = -l1 * inverse[0, a]"),
        ("inverse_pivots[here] - l1 * z1 - l2 * z2\n", "inverse_pivots[here] - l1 * z1\n"),
        ("- lower[4, d] * bands[4, d] - lower[3, c]", "- lower[3, c]"),
        ("    first -= bands[2, a] * lower[1, a]\n", ""),
        ("bands[4, b] * lower[2, b] - bands[3, a]", "bands[3, a]"),
        ("third = bands[3, here] - bands[4, a] * lower[1, a]", "third = bands[3, here]"),
        ("bands[2, here], bands[3, here] = first, second, third", "bands[2, here] = first, second"),
        ("older = lower[4, d] * x[d] + lower[3, c] * x[c]", "older = lower[3, c] * x[c]"),
        ("older = lower[4, here] * x[d] + lower[3, here]", "older = lower[3, here]"),
        ("- l3 * z[1, c] - l4 * z[0, d]", "- l3 * z[1, c]"),
        ("- l3 * z[0, c] - l4 * z[1, c]", "- l3 * z[0, c]"),
        ("- l3 * z[1, b] - l4 * z[2, b]", "- l3 * z[1, b]"),
        ("- l3 * z[2, a] - l4 * z[3, a]", "- l3 * z[2, a]"),
        ("- l3 * z3 - l4 * z4", "- l3 * z3"),
    ),
)

ISOTONIC = Group(
    "kernels/isotonic.py",
    ("tests/kernels/test_banded.py",),
    (
        ("= sign * values[b], weights[b], b + 1", "= values[b], weights[b], b + 1"),
        ("while pools > 1 and level", "if pools > 1 and level"),
        ("share = mass[pools - 1] / total", "share = 0.5"),
        ("end[pools - 2] = total, end", "end[pools - 2] = mass[pools - 1], end"),
        ("values[start : end[pool]] = sign * level", "values[start : end[pool]] = level"),
    ),
)

REFINE = Group(
    "kernels/refine.py",
    ("tests/kernels/test_refine.py",),
    (
        ("_CLEARLY = 1.0 + 1e-9", "_CLEARLY = 2.0"),
        ("down += w * max(-residual[i], 0.0)", "down += w * max(residual[i], 0.0)"),
        ("return np.sqrt(square / total), 0.0", "return square / total, 0.0"),
        ("w = huber_weight(times[i], residual[i], rules.threshold)", "w = times[i]"),
        ("down / total if rules.two_branches else 0.0", "down / total"),
        ("+ s[MINUS_MINUS] + 2.0 * s[PLUS_MINUS]", "+ s[MINUS_MINUS] - 2.0 * s[PLUS_MINUS]"),
        ("(s[PLUS_R] + s[MINUS_R]) / moved", "(s[PLUS_R] - s[MINUS_R]) / moved"),
        ("        if state.is_cut[first + b]:\n", "        if False:\n"),
        ("        a3 += sums[flat, 3]", "        a3 += sums[flat, 4]"),
        ("most = prefix[hi - 1, COUNT] - min_samples", "most = prefix[hi - 1, COUNT]"),
        ("if min_samples <= left <= most and", "if min_samples < left <= most and"),
        ("<= most and left > before:", "<= most:"),
        ("r3, r4 = prefix[e, 3] - l3,", "r3, r4 = prefix[e, 3],"),
        ("if gain_left + gain_right > _CLEARLY", "if gain_left > _CLEARLY"),
        ("        order_levels(state, axis)\n", "        pass\n"),
        ("gain, at_lo, at_cut, at_hi = rules.min_gain,", "gain, at_lo, at_cut, at_hi = 0.0,"),
        ("previous_gain + own_gain > gain:", "own_gain > gain:"),
        ("        draw_head(random, rules.split_try, n_cuts, cuts.at)\n", ""),
        ("        n_cuts = rules.split_try\n", ""),
        ("        at_lo = cut - 1\n", "        at_lo = 0\n"),
        ("t[c] += state.sums[state.bin_at[position], c]", "t[c] += state.sums[position, c]"),
        ("state.log_factors[1, b] += np.log", "state.log_factors[1, b] -= np.log"),
        ("state.negative[b] ^= v_plus < 0.0", "state.negative[b] |= v_plus < 0.0"),
        ("n_actions < 3 * rules.n_splits", "n_actions < 4 * rules.n_splits"),
        ("while n_cuts < rules.n_splits", "while n_cuts <= rules.n_splits"),
        ("and not stop[0]:", "and True:"),
        ("            draw_head(random[p:], rules.n_columns, p, columns)\n", "            pass\n"),
        ("n_cuts += 0 if state.is_cut[boundary] else 1", "n_cuts += 1"),
        ("        total += best.gain\n", "        total += 2.0 * best.gain\n"),
        ("        state.is_cut[boundary] = True\n", ""),
        ("multiply_region(state, rules, best.axis, best.cut, best.hi)", "pass"),
        ("rows[i, 0] = times[i] * unit", "rows[i, 0] = times[i]"),
        ("residual[i] - plus + minus", "residual[i] - plus"),
        ("- 1] = not is_categorical[j]", "- 1] = True"),
        ("        times[:] = 0.0\n", ""),
        ("np.array([plus * v_plus, minus * v_minus])", "np.array([plus, minus])"),
    ),
)

SUMS = Group(
    "kernels/sums.py",
    ("tests/kernels/test_refine.py",),
    (
        ("sums[bin_, PLUS_MINUS] += plus_minus", "sums[bin_, PLUS_MINUS] += plus_plus"),
        ("weight if size <= threshold", "weight if size <= 2.0 * threshold"),
        ("else weight * threshold / size", "else weight * threshold"),
        ("start[b + 1] += start[b]", "start[b + 1] += 0"),
        ("            position[b] += 1\n", ""),
        ("filled += np.uint64(times[np.uint64(i)] > 0.0)", "filled += np.uint64(1)"),
        ("        bag.start[offset[j + 1] + j] = filled", "        bag.start[offset[j]] = 0"),
        ("w * minus * minus, w * plus * minus\n", "w * minus * minus, -w * plus * minus\n"),
        ("t1, t2 = w * r * plus, w * r * minus", "t1, t2 = w * r * plus, -w * r * minus"),
        ("state.sums[b, COUNT] += times", "state.sums[b, COUNT] += 1.0"),
        ("new_r = r - (new_plus - plus) + (", "new_r = r - (new_plus - plus) - ("),
        (
            "new_w = huber_weight(state.rows[i, 0], new_r, rules.threshold)",
            "new_w = huber_weight(state.rows[i, 0], r, rules.threshold)",
        ),
        ("= new_plus, new_minus, new_r", "= new_plus, minus, new_r"),
        ("* new_plus * new_plus - w * plus", "* new_plus * new_plus - new_w * plus"),
        ("add_two(state.sums, b, s11, t1)\n        return", "return"),
        ("new_plus * new_minus - w * plus * minus", "new_plus * new_minus + w * plus * minus"),
        ("t2 = new_w * new_r * new_minus", "t2 = new_w * r * new_minus"),
        (
            "        for q in range(start[bin_ + axis], start[bin_ + axis + 1]):",
            "        for q in range(start[bin_ + axis] + 1, start[bin_ + axis + 1]):",
        ),
    ),
)

# The vector addition is machine code, and the other order of reading is for large tables.
COMPILED_SUMS = Group(
    "kernels/sums.py",
    ("tests/kernels/test_refine.py::test_sums_of_a_large_table_are_those_of_its_rows",),
    (
        ("for c in range(width, len(deltas)):", "for c in range(width + 1, len(deltas)):"),
        ("and inside[np.int64(", "and not inside[np.int64("),
    ),
    compiled=True,
)

EVALUATE = Group(
    "kernels/evaluate.py",
    ("tests/kernels/test_evaluate.py",),
    (
        ("<= value else 0", "< value else 0"),
        ("half = (length + 1) >> 1", "half = length"),
        ("low if value == value else edges.shape[0] + 1", "low if value == value else 0"),
        ("total += log_factors[np.uint64(offset[j] +", "total += log_factors[np.uint64("),
        ("        total = 0.0\n        for j", "        total = 1.0\n        for j"),
        ("odd ^= negative", "odd |= negative"),
        ("gap = points[k, f] - points[c, f]", "gap = points[k, f]"),
        ("out[k] = np.sqrt(total)", "out[k] = total"),
        ("total += weight[i] * a[i] * b[i]", "total += a[i] * b[i]"),
    ),
)

RANDOM = Group(
    "kernels/random.py",
    ("tests/kernels/test_evaluate.py", "tests/kernels/test_refine.py"),
    (
        ("x ^= x >> np.uint64(7)\n", "x ^= x >> np.uint64(63)\n"),
        ("* np.uint64(n)) >> np.uint64(32))", "* np.uint64(n)) >> np.uint64(31))"),
        ("b = a + draw_below(state, n - a)", "b = a"),
        ("        items[b] = kept\n", ""),
        ("draw_below(state, n_draws)]] += 1.0", "draw_below(state, n_draws)]] = 1.0"),
        ("+ _WITHIN_A_SLICE) * slice_", "+ 1.5) * slice_"),
    ),
)

SCALAR = Group(
    "kernels/scalar.py",
    ("tests/kernels/test_scalar.py",),
    (
        ("if rules.signed and v < 0.0:", "if False:"),
        ("return -min(max(-v, rules.v_min), rules.v_max)", "return -max(-v, rules.v_min)"),
        ("    return min(max(v, rules.v_min), rules.v_max)", "    return max(v, rules.v_min)"),
        ("a = plus_plus + rules.ridge", "a = plus_plus"),
        ("d = minus_minus + rules.ridge", "d = minus_minus + 2.0 * rules.ridge"),
        ("(a * d - plus_minus * plus_minus)", "(a * d + plus_minus * plus_minus)"),
        ("(d * plus_r - plus_minus * minus_r)", "(d * plus_r + plus_minus * minus_r)"),
        ("(plus_minus * plus_r - a * minus_r)", "(plus_minus * plus_r - d * minus_r)"),
        ("- a * u_plus + 2.0 * plus_minus * u_minus", "- a * u_plus + plus_minus * u_minus"),
        ("2.0 * minus_r + d * u_minus", "2.0 * minus_r + a * u_minus"),
    ),
)

SORTING = Group(
    "kernels/sorting.py",
    ("tests/kernels/test_sorting.py",),
    (
        ("keys[j - gap] > key:", "keys[j - gap] < key:"),
        ("while j >= gap and", "while j > gap and"),
        ("keys[j], items[j] = key, item", "keys[j], items[i] = key, item"),
        ("gap = 1 if gap == 2 else int(gap / 2.2)", "gap = int(gap / 2.2)"),
        ("if ascending[middle] < value:", "if ascending[middle] <= value:"),
    ),
)

SHAPLEY = Group(
    "kernels/shapley.py",
    ("tests/kernels/test_shapley.py",),
    (
        ("            integral[:] = 0.0\n", ""),
        ("behind[:] = node_weights[s]", "behind[:] = 1.0"),
        ("mixed[k, z] = a + (1.0 - t)", "mixed[k, z] = a + t"),
        ("before[k - 1, z] * mixed[k - 1, z]", "before[k - 1, z] * mixed[k, z]"),
        ("for k in range(p - 1, -1, -1):", "for k in range(p - 1, 0, -1):"),
        ("width = min(_BLOCK, n_background - start)", "width = min(_BLOCK, n_background)"),
        ("total += background_weight[start + z]", "total += background_weight[z]"),
        ("gap = row_factors[i, k] - background", "gap = row_factors[i, k] + background"),
        ("out[i, k] += sign * total", "out[i, k] = sign * total"),
    ),
)

ALS = Group(
    "kernels/als.py",
    ("tests/kernels/test_als.py",),
    (
        ("behind[p - 1] = 1.0", "behind[p - 1] = 2.0"),
        ("= behind[k, i, a] * factors[at, a]", "= factors[at, a]"),
        ("products[i, a] *= factors[at, a]", "products[i, a] = factors[at, a]"),
        ("wq = w * (before[i, a] * behind[i, a])", "wq = before[i, a] * behind[i, a]"),
        ("sums[b, at] += wq * (before[i, c] * behind[i, c])", "sums[b, at] += wq * before[i, c]"),
        ("sums[b, at] += wq * target[i]", "sums[b, at] += w * target[i]"),
        ("row = a * m + used[x]", "row = c * m + used[x]"),
        ("vector[a * m + used[x]] += sums", "vector[a * m + used[x]] = sums"),
        ("packed[at, x] += sums[b, at] * pairs[b, x]", "packed[at, x] += sums[b, 0] * pairs[b, x]"),
        ("vector[a * m + k] += sums[b, at] * basis[b, k]", "vector[a * m + k] += basis[b, k]"),
        ("matrix[a * m + y, c * m + k] = packed[at, x]", "pass"),
        ("            at += 1\n        at += 1\n", "            at += 1\n"),
        ("matrix[a, c] += wq * products[i, c]", "matrix[a, c] += wq"),
        ("            matrix[r, a] += wq\n", ""),
        ("vector[r] += w * target[i]", "vector[r] += target[i]"),
    ),
)

JOINT = Group(
    "fitting/joint/fit.py",
    ("tests/fitting/test_refinement.py",),
    (
        ("\nN_SWEEPS = 12", "\nN_SWEEPS = 11"),
        ("SWEEPS_OF_FEW_ROWS = 16", "SWEEPS_OF_FEW_ROWS = 15"),
        ("_SWEPT_FULLY = 4", "_SWEPT_FULLY = 5"),
        ("SWEEPS_OF_MANY_STAGES = 6", "SWEEPS_OF_MANY_STAGES = 7"),
        ("_FEW_ROWS = 5_000", "_FEW_ROWS = 50"),
        ("STAGE_SWEEPS = 200", "STAGE_SWEEPS = 100"),
        ("_SMALLEST_LAMBDA = 1e-3", "_SMALLEST_LAMBDA = 1e-2"),
        ("        if self._options.loss_function.starts_low:\n", "        if False:\n"),
        ("@ (signs * scalars)", "@ scalars"),
        ("_MOST_HALVINGS = 30", "_MOST_HALVINGS = 2"),
        ("most = max(self._restrained_loss(level), self", "most = max(0.0, self"),
        (
            "self._restrained_loss(level), self._restrained_loss(eta))",
            "self._restrained_loss(level), 0.0)",
        ),
        ("share = 0.5**halvings", "share = 0.25**halvings"),
        (
            "        return 1.0\n\n    def _restrained_loss",
            "        return share\n\n    def _restrained_loss",
        ),
        (
            "data.carrier(self.curves.intercept, workers)",
            "data.carrier(0.0, workers)",
        ),
        ("            self._refine_after_change(rate=1.0)\n", "            pass\n"),
        ("if idle and (self._options.fit_intercept or bool(self.curves.stages)):", "if idle:"),
        (
            "self._refine_after_change(self._options.loss_function.rate)",
            "self._refine_after_change(1.0)",
        ),
        ("self._options.n_stages - self.n_sweeps), rate", "self._options.n_stages), rate"),
        ("rules = self._rules(rate)", "rules = self._rules(1.0)"),
        (")\n        self.curves.fix_gauge(self.data.bins)\n", ")\n"),
        ("self.curves = snapshot.copy()", "self.curves = snapshot"),
        ("_QUIET = 1e-5", "_QUIET = 2e-5"),
        ("_QUIET_AT_LAST = 1e-3", "_QUIET_AT_LAST = 1e-4"),
        ("LAST_SWEEPS = 12", "LAST_SWEEPS = 6"),
        ("SWEEPS_AFTER_PRUNING = 6", "SWEEPS_AFTER_PRUNING = 0"),
        ("            self.prune_quiet()\n", "            pass\n"),
        ("        if self.curves.effects.active.any():\n", "        if True:\n"),
        ("        if self.prune_quiet():\n", "        if False:\n"),
        ("        self.restore(snapshot)\n        self.refine", "        self.refine"),
        (
            "        self.refine(LAST_SWEEPS, rate=DAMPED)\n        self.settle()",
            "        self.settle()",
        ),
        ("self.refine(SWEEPS_AFTER_PRUNING, rate=DAMPED)", "pass"),
        ("if stage.bag is not None)", "if False)"),
        ("float(size / net) if net > 0 else 1.0", "float(net / size) if net > 0 else 1.0"),
        ("freedom=self.curves.freedom if self._learns else None", "freedom=0.5"),
        ("b and monotone(b, self._axes)", "b"),
        ("logs[0], logs[-1]", "logs[-1], logs[0]"),
        ("0.5 * (plus - minus)]),", "0.5 * (minus - plus)]),"),
        ("0.5 * (log_plus - log_minus)]),", "0.5 * (log_minus - log_plus)]),"),
        ("= (True, bool(present.all()))", "= (True, True)"),
        ("active[list(self._axes.order)] =", "active[:] ="),
        ("for b in columns] for a in columns", "for b in columns] for a in columns[:1] * 2"),
        ("weighted_dot(column, residual, weight)", "weighted_dot(column, data.target, weight)"),
        ("rows.reweighted(self._blocks, weight)", "self._blocks"),
        ("other.curves = self.curves.copy()", "other.curves = self.curves"),
        ("other.refine(n_sweeps, rate=0.0,", "other.refine(n_sweeps, rate=1.0,"),
        ("move.curves[k] - centre.curves[k]", "move.curves[k] + centre.curves[k]"),
        ("move.scales[k] - centre.scales[k]", "move.scales[k]"),
        ("move.effects - centre.effects", "move.effects"),
        ("float(move.intercept - centre.intercept)", "float(centre.intercept)"),
        ("gather(rows.some_misses, share)", 'gather(rows.values, "target")'),
        (
            "            fit_intercept=self._options.fit_intercept,",
            "            fit_intercept=True,",
        ),
        ("rate=rate if self._learns else 0.0", "rate=rate"),
        ("energy=self._energy", "energy=self._options.energy"),
        ("DAMPED = 0.5", "DAMPED = 0.6"),
        ("_QUIET_ROWS = 1.0", "_QUIET_ROWS = 2.0"),
    ),
)

SETUP = Group(
    "fitting/joint/setup.py",
    ("tests/fitting/test_refinement.py",),
    (
        ("_LARGEST_LEVEL = 4.0", "_LARGEST_LEVEL = 3.0"),
        (
            "np.isin(np.arange(n_axes), order) if main_effects",
            "np.ones(n_axes, np.bool_) if main_effects",
        ),
        ("    if options.fit_intercept:\n", "    if True:\n"),
        ("used[order] > 1", "used[order] > 0"),
        ("varying if len(varying) else order[:1]", "varying"),
        ('order = np.argsort(hashes, kind="stable")', "order = np.arange(len(hashes))"),
        ("not loss.sees_sides and not main_effects", "not loss.sees_sides"),
        ("if options.fit_intercept and far else", "if far else"),
        ("first_penalties(data, options)[:, 0]", "0.1 * first_penalties(data, options)[:, 0]"),
        (
            "return loss.constant(data.target, data.weight, data.offset)",
            "return float(np.mean(data.target))",
        ),
        ("starting_penalties(data) / _information", "starting_penalties(data) * _information"),
        ("    return curvature / noise\n", "    return curvature\n"),
        ("max(loss.noise(found), 1e-300)", "max(found, 1e-300)"),
    ),
)

COORDINATES = Group(
    "fitting/joint/coordinates.py",
    ("tests/fitting/test_refinement.py",),
    (
        ("effects=effects)\n", "effects=None)\n"),
        ("stage.scale[0] + sign * stage.scale[1]", "stage.scale[0] + stage.scale[1]"),
        ("stage.curves[1], stage.curves[0] - stage", "stage.curves[1], stage.curves[0] + stage"),
        ("weight = axes.bins.frequencies[part] + 1e-12", "weight = np.ones(n_ordered)"),
        ("float(branch.coefficient_sign * direction)", "float(direction)"),
        ("if sign * direction > 0 else", "if sign * direction < 0 else"),
    ),
)

COORDINATES_WHEN_PRUNED = Group(
    "fitting/joint/coordinates.py",
    ("tests/fitting/test_prune.py",),
    (("    if curves.effects.active.any():\n", "    if True:\n"),),
)

WHAT_IS_PRUNED = Group(
    "fitting/joint/fit.py",
    ("tests/fitting/test_prune.py",),
    (
        ("least=share * self._mass * self.noise", "least=share * self.noise"),
        ("        if square < self.mean_square:\n", "        if True:\n"),
        ("            share *= square / self.mean_square\n", "            pass\n"),
        ("square = 2.0 * (self.loss", "square = (self.loss"),
        (" if loss is None else loss)", ")"),
        ("folds=self._options.may_have_effects", "folds=True"),
        ("drops=self._options.fit_intercept", "drops=True"),
        (
            'to lower it."""\n        spent = min(self.curves.freedom, 0.5 * self._mass)',
            'to lower it."""\n        spent = self.curves.freedom',
        ),
        ("return self.mean_square * self._mass / (self._mass - spent)", "return self.mean_square"),
        ("DEARER_FREEDOM = 1.4", "DEARER_FREEDOM = 1.0"),
        ("(self._mass / left) ** 2 if", "(self._mass / left) if"),
        ("** 2 if left > 0.0 else math.inf", "** 2"),
    ),
)

CURVES = Group(
    "fitting/joint/curves.py",
    ("tests/fitting/test_refinement.py", "tests/kernels/test_sweep.py"),
    (
        ("if self.present[0] else 0.0, minus if", "if self.present[1] else 0.0, minus if"),
        ("[j for j in axes.order if moves[j]]", "list(axes.order)"),
        ("        self.active &= ~idle\n", ""),
        ("        self.curves[axes.bins.repeat_per_bin(idle.T)] = 0.0\n", ""),
        ("        self.freedom[idle] = self.reach[idle] = 0.0\n", ""),
        ("stages = [stage.copy() for stage in self.stages]", "stages = list(self.stages)"),
        (
            "Curves(self.intercept, self.effects.copy(), stages, self.anchor)",
            "Curves(self.intercept, self.effects, stages, self.anchor)",
        ),
        ("of_stages + float(self.effects.freedom.sum())", "of_stages"),
        ("                stage.scale += off\n", "                stage.scale -= off\n"),
        ("self.intercept += float(level)", "pass"),
        ("own.penalty(axes, other.penalties)", "own.penalty(axes, own.penalties)"),
        ("0.5 * (own.scale + theirs.scale)", "theirs.scale"),
        ("0.5 * (own.curves + theirs.curves)", "theirs.curves"),
    ),
)

ROUGHNESS = Group(
    "kernels/roughness.py",
    ("tests/kernels/test_sweep.py",),
    (
        ("total += 0.5 * curvature[k]", "total += curvature[k]"),
        ("if n_ordered[j] >= SMOOTH_BINS:", "if n_ordered[j] >= 3:"),
        ("for b in range(start + 1, end):", "for b in range(start + 1, stop):"),
        ("for b in range(start, stop):", "for b in range(start, end):"),
        ("            if not active[j, k]:\n                continue\n", ""),
    ),
)

CLASSES = Group(
    "fitting/joint/classes.py",
    ("tests/fitting/test_classes.py",),
    (
        ("self._together.each(rows.face_others, k, self._options.loss_function)", "pass"),
        ("self._together.each(rows.look_back, k)", "pass"),
        ("np.delete(constants, k)", "constants"),
        ("options.n_classes), 0.5)", "options.n_classes), 50.0)"),
        ("constants: FloatArray = logs - logs.mean()", "constants: FloatArray = logs"),
        ("        self._together.each(rows.share_codes)\n", "        pass\n"),
        ("if not self._varies[k]:", "if False:"),
        ("fit.reweighted(weight, own,", "fit.reweighted(self.data.loaded.weight, own,"),
    ),
    compiled=True,
)

PRUNE = Group(
    "fitting/joint/prune.py",
    ("tests/fitting/test_prune.py",),
    (
        ("        if idle.any():\n", "        if idle.all():\n"),
        ("in reversed(range(len(curves.stages)))", "in range(len(curves.stages) - 1)"),
        ("active.any(axis=1))", "active.all(axis=1))"),
        ("if len(used) == 0 and rules.drops:", "if len(used) == 0:"),
        ("curves.intercept += plus - minus", "curves.intercept += plus"),
        ("            n_dropped += 1\n", ""),
        ("elif len(used) == 1 and rules.folds:", "elif len(used) == 1:"),
        ("elif len(used) == 1 and rules.folds:", "elif len(used) == 2 and rules.folds:"),
        ("int(used[0]), axes)", "0, axes)"),
        (
            "        carrier.each(rows.drop_stage, number)\n",
            "        carrier.each(rows.drop_stage, 0)\n",
        ),
        ("    _prune_effects(carrier, curves.effects, axes, rules)\n", ""),
        ("stage.reach < least", "stage.reach > least"),
        ("quiet[:, 1] &= quiet[:, 0] | (axes.direction == 0)", "pass"),
        ("quiet[:, 0] | (axes.direction == 0)", "quiet[:, 0]"),
        ("np.flatnonzero(idle.any(axis=1)).tolist()", "np.flatnonzero(idle.all(axis=1)).tolist()"),
        ("idle.T), -stage.curves, 0.0)", "idle.T), stage.curves, 0.0)"),
        ("np.array([beta + delta, beta - delta])", "np.array([beta + delta, beta + delta])"),
        ("    stage.flatten(idle, axes)\n", "    stage.active &= ~idle\n"),
        ("- minus * np.exp(beta - delta)", "- minus * np.exp(beta + delta)"),
        ("    values, level = axes.bins.centred(values)\n", "    level = 0.0\n"),
        ("    effects.values += values\n", "    effects.values = values\n"),
        ("    effects.active[j] = True\n", ""),
        (
            "effects.freedom[j] += stage.freedom[j].sum()",
            "effects.freedom[j] = stage.freedom[j].sum()",
        ),
        ("curves.intercept += float(level)", "pass"),
        ("reach = rules.mass * axes", "reach = axes"),
        ("means(effects.values**2)", "means(np.abs(effects.values))"),
        ("effects.active & (reach < rules.least)", "reach < 2.0 * rules.least"),
        ("        carrier.each(rows.leave_effect, j, -effects.values[axis])\n", ""),
        ("effects.values[axis] = effects.freedom[j] = 0.0", "effects.values[axis] = 0.0"),
        ("        effects.active[j] = False", "        pass"),
    ),
)

SELECTION = Group(
    "fitting/selection.py",
    ("tests/fitting/test_selection.py",),
    (
        ("np.where(np.isnan(losses), math.inf, losses)", "losses"),
        ("float(np.sum(weight * part))", "float(np.sum(part))"),
        ("sum(sums) / sum(self._masses)", "float(np.mean(np.divide(sums, self._masses)))"),
        ("np.median(np.divide(sums, self._masses))", "np.mean(np.divide(sums, self._masses))"),
        ("_FAR_BETTER = 0.25", "_FAR_BETTER = 0.5"),
        ("_FAR_BETTER = 0.25", "_FAR_BETTER = 0.1"),
        ("return median if is_far_better else mean", "return mean"),
        ("        if best != int(np.argmin(self.losses)):", "        if False:"),
        (
            "return next(size for size in range(best + 1) if",
            "return next(size for size in range(best, -1, -1) if",
        ),
        ("\n_PATIENCE = 3", "\n_PATIENCE = 4"),
        ("\n_PATIENCE = 3", "\n_PATIENCE = 2"),
        ("_LEAST_PATIENCE = 2", "_LEAST_PATIENCE = 1"),
        ("_LEAST_PATIENCE = 2", "_LEAST_PATIENCE = 3"),
        ("_patience or difference > error", "_patience or difference > 0.0"),
        ("_PATIENCE_OF_MEANS = 8", "_PATIENCE_OF_MEANS = 7"),
        ("_PATIENCE_OF_MEANS = 8", "_PATIENCE_OF_MEANS = 9"),
        ("self.difference(last, self, self.best)", "self.difference(last, self, 0)"),
        ("error if math.isfinite(error) else 0.0", "error"),
        ("is_larger = difference > (", "is_larger = difference > 2.0 * ("),
        ("_LARGEST_PRICE = 0.01", "_LARGEST_PRICE = 0.02"),
        ("_CLEARLY_WORSE = 1.25", "_CLEARLY_WORSE = 12.5"),
        ("if size > 0 else math.inf", "if True else math.inf"),
        ("np.sum(rows * self._weight)", "np.sum(rows)"),
        ("np.sum((rows - mean) ** 2 * self._weight)", "np.sum((rows - mean) ** 2)"),
        ("np.sum((rows - mean) ** 2", "np.sum(rows**2"),
        ("math.sqrt(variance / self._mass)", "math.sqrt(variance / len(rows))"),
        (" if math.isfinite(variance) else math.inf", ""),
        ("self.difference(size, self, best)[1]", "self.difference(size, self, 0)[1]"),
        ("self.chosen if chosen else None", "self.best if chosen else None"),
        ("    if telling * total <= _ROWS_IN_FOLDS:", "    if telling * total < _ROWS_IN_FOLDS:"),
        ("    if telling * total <= _ROWS_IN_FOLDS:", "    if total <= _ROWS_IN_FOLDS:"),
        ("max(_N_PARTS, n_starts)", "_N_PARTS"),
        ("min(k * share, 1.0)", "k * share * 0.9"),
        ("groups.astype(np.uint64)", "data.row_keys"),
        ("math.ceil(_DEALT_ONCE / total)", "math.ceil(_DEALT_ONCE / len(keys))"),
        ("order[~held[order]]", "order"),
        ("shuffled[first])[row]", "shuffled[row])[row]"),
        ("last - min(self.best, self.chosen + 1)", "last - self.best"),
        (
            "math.isfinite(error) and difference > error",
            "math.isfinite(error) and difference > 0.0",
        ),
        ("math.isfinite(error) and difference > error", "difference > error"),
    ),
    compiled=True,
)

CELLS = Group(
    "table/training.py",
    ("tests/fitting/test_copies.py",),
    (
        ("(times / rows)[of]", "np.ones(len(of))"),
        (">= _CELLS_OF_THEIR_OWN * len(y)", ">= 0"),
        ("if is_measured or combinations", "if combinations"),
        ("combinations > _CELLS_PER_ROW * len(y)", "False"),
    ),
    compiled=True,
)

COPIES = Group(
    "fitting/copies.py",
    ("tests/fitting/test_copies.py",),
    (
        ("_FEWEST_COPIES = 0.2", "_FEWEST_COPIES = 0.25"),
        ("_FEW_NUMBERS = 50, 20", "_FEW_NUMBERS = 0, 20"),
        ("_FEW_NUMBERS = 50, 20", "_FEW_NUMBERS = 50, 0"),
        ("_TOLD_APART = 0.95", "_TOLD_APART = 0.5"),
        ("_LEAST_DISAGREEMENT = 0.05", "_LEAST_DISAGREEMENT = 5.0"),
        ("_MOST_CLUMPED = 10.0", "_MOST_CLUMPED = 1000.0"),
        ("_MOST_CLUMPED * float(np.median(copies))", "_MOST_CLUMPED"),
        ("not (some.weight % 1.0).any()", "True"),
        ("not (some.weight % 1.0).any()", "False"),
        ("    if are_numbers and loss.are_means_of_counts(", "    if False and (lambda *a: 0)("),
        ("_common_divisor(some.weight) if are_numbers", "1.0 if are_numbers"),
        ("if rows is None or not rows.has_copies:", "if rows is None:"),
        ("    if rows.were_seen:\n", "    if False:\n"),
        ("np.bincount(self.cell)[self.cell] == 1", "np.bincount(self.cell)[self.cell] > 0"),
        ("counted.sum() <= _FEW_ROWS or ", ""),
        ("return any(len(own) <=", "return all(len(own) <="),
        ("return few and not", "return False and not"),
        ("return few and not", "return not"),
        (" or self.disagreement >= _LEAST_DISAGREEMENT", ""),
        ("masses[::-1] / masses.sum()", "masses / masses.sum()"),
        ("if len(parts) == 1 or not as_classes:", "if len(parts) == 1:"),
        ("if len(parts) == 1 or not as_classes:", "if True:"),
        ("rows.by_class(rows.weight)", "rows.by_class(rows.copies)"),
        ("    if len(rows.keys) < some.n_rows:\n", "    if False:\n"),
        ("    if len(rows.keys) < some.n_rows:\n", "    if True:\n"),
        ("if times > 1.0 + _ROUNDING else data", "if True else data"),
        ("    if data.given_offset is not None:\n", "    if False:\n"),
        (" + np.uint64(column + 1)", ""),
        ("others = keys - column", "others = keys"),
        ("others[others % every == 0]", "others[:: int(every)]"),
        ("validation.groups[of]", "validation.groups"),
        ("some.given_offset[of]", "some.given_offset"),
        ("times.max() <= 1.0", "times.max() <= 2.0"),
        ("some.mass <= ROWS_LOOKED_AT", "True"),
        (
            "some.n_rows > min(FEW_DIFFERENT, some.mass / MANY_COPIES)",
            "some.n_rows > FEW_DIFFERENT",
        ),
    ),
    compiled=True,
)

PARTS = Group(
    "fitting/parts.py",
    ("tests/fitting/test_growth.py",),
    (
        (
            "return parts, float(validation.eval_set.weight.sum())",
            "return parts, 3.0 * float(validation.eval_set.weight.sum())",
        ),
        (
            "np.unique(np.concatenate([held for _, held in pairs]))",
            "np.concatenate([held for _, held in pairs])",
        ),
        ("data.weight[predicted].sum()", "data.weight.sum()"),
        ("max(len(parts), options.n_starts)\n", "len(parts)\n"),
        ("options.loss_function.told_by(data.target, data.weight)", "1.0"),
        ("        if n > _SAMPLED:\n", "        if True:\n"),
        ("min(n, _LARGEST_SAMPLE, _SAMPLE", "min(n, _SAMPLE"),
        ("2 ** (n_stages // _STAGES_TO_DOUBLE)", "2**n_stages"),
    ),
    compiled=True,
)

GROWTH = Group(
    "fitting/growth.py",
    ("tests/fitting/test_growth.py",),
    (
        (
            "is_to_end = is_to_end or growth.tell(on_stage)",
            "is_to_end = growth.tell(on_stage) or is_to_end",
        ),
        ("_start_seed(self._seed, k)", "self._seed"),
        ("rows, seed = self._parts[k].rows(0),", "rows, seed = self._parts[0].rows(0),"),
        ("constant_of(fit.data, options) if model.is_constant else model", "model"),
        ("[fit.curves.copy() for fit in self.fits]", "[fit.curves for fit in self.fits]"),
        ("growth.is_over = all(record is None", "growth.is_over = any(record is None"),
        ("replace(record, validation_loss=loss)", "record"),
        ("return not is_to_end and not all(", "return not all("),
        ("self.is_over = self.path.is_over", "self.is_over = False"),
        (">= _FEWEST_COMPARED and not is_ahead", ">= _FEWEST_COMPARED and is_ahead"),
        ("(record := records[k])", "(record := records[0])"),
        (
            "history += [*own[:-1], *(fit.described(record) for record in own[-1:])]",
            "history += own",
        ),
        ("inner, options.must_have_effects)", "inner, bool(options.main_effects))"),
        ("        inner.map_fits(lambda fit: fit.settle(), fits)\n", "        pass\n"),
        (
            "        fit.begin()\n        return fit\n\n    fits: list[Any] = inner",
            "        return fit\n\n    fits: list[Any] = inner",
        ),
        ("_FEWEST_COMPARED = 3", "_FEWEST_COMPARED = 2"),
        ("_FEWEST_COMPARED = 3", "_FEWEST_COMPARED = 4"),
        ("return fit if rows is fit.data else", "return fit if True else"),
    ),
    compiled=True,
)

JOINTLY = Group(
    "fitting/jointly.py",
    ("tests/fitting/test_growth.py",),
    (
        ("size = growth.path.chosen\n", "size = growth.path.best\n"),
        ("(fits[k].expected_error, fits[k].curves.freedom)", "k"),
        ("(fits[k].expected_error, fits[k].curves.freedom)", "fits[k].expected_error"),
        ("order[: options.n_starts]", "order[:1]"),
        ("strict=True)), growth.rounds[:size])", "strict=True)), growth.rounds)"),
        ("if other.path.is_clearly_better(better.path) or (", "if False or ("),
        ("other.path.chosen == 0 < better.path.chosen", "other.path.chosen == 0"),
        ("other.path.chosen == 0 < better.path.chosen", "0 < better.path.chosen"),
        ("is_sum and other.path.loses_no_more(better.path)", "is_sum"),
        ("is_sum and other.path.loses_no_more(better.path)", "False"),
        ("reversed(growths) if prefers_effects else growths", "growths"),
        ("_better(growths, options.prefers_effects)", "_better(growths, False)"),
        ("data.half_way([fit.carrier for fit in fits])", "data"),
        ("        same = fit.going_on_with(data)\n", "        same = fit.going_on_with(calmer)\n"),
    ),
    compiled=True,
)

SMOOTHING = Group(
    "fitting/smoothing.py",
    ("tests/fitting/test_refinement.py",),
    (
        ("_FIRST_START = 3e-4 / 255", "_FIRST_START = 3e-4 / 256"),
        ("_SECOND_START = 3e-5 / 255", "_SECOND_START = 3e-4 / 255"),
        ("_SIZE_START = 1e-5", "_SIZE_START = 1e-4"),
        ("_LEVEL_START = 1e-2", "_LEVEL_START = 1e-5"),
        ("_ROWS_PER_FEATURE = 500.0", "_ROWS_PER_FEATURE = 400.0"),
        ("_STIFFNESS = 1.5", "_STIFFNESS = 1.0"),
        ("_NEGLIGIBLE = 1e-9", "_NEGLIGIBLE = 1e-8"),
        ("max(1.0, crowding)", "crowding"),
        ("data.bins.n_axes / data.mass", "data.bins.n_axes / data.n_rows"),
        ("(size * stiffness)[:, None]", "size[:, None]"),
        ("smoothness * bins / 255.0**2", "smoothness / 255.0**2"),
    ),
)

LOSS = Group(
    "losses/base.py",
    ("tests/losses/test_losses.py", "tests/losses/test_linked_losses.py"),
    (
        ("rate: float = 1.0", "rate: float = 0.5"),
        ("_LARGEST_RESPONSE = 100.0", "_LARGEST_RESPONSE = 1000.0"),
        ("np.maximum(curvature, least)", "curvature + least"),
        ("eta + gradient / steep", "eta + gradient / curvature"),
        ("weight * steep", "weight * curvature"),
    ),
)

LOG_LOSS = Group(
    "losses/log_loss.py",
    ("tests/losses/test_linked_losses.py", "tests/kernels/test_sweep.py"),
    (
        ("_RESTRAINT = 1e-4", "_RESTRAINT = 2e-4"),
        ("max(math.sqrt(found), self.least_noise)", "max(found, self.least_noise)"),
        ("max(math.sqrt(found), self.least_noise)", "math.sqrt(found)"),
        ("target - share - self.restraint * eta", "target - share"),
        ("(1.0 - share) + self.restraint, weight)", "(1.0 - share), weight)"),
        ("0.5 * self.restraint * eta**2", "self.restraint * eta**2"),
        ("low, high, xtol=1e-12", "low, high, xtol=1e-3"),
        ("least = 0.5 / (", "least = 1.0 / ("),
        ("4.0 * (target - self", "2.0 * (target - self"),
    ),
)

POWER = Group(
    "losses/power.py",
    ("tests/losses/test_linked_losses.py",),
    (
        ("curvature = mean ** (2.0 - self.power)", "curvature = mean ** (1.0 - self.power)"),
        ("curvature * (times - 1.0)", "curvature * times"),
        ("2.0 * np.maximum(rows, 0.0)", "np.maximum(rows, 0.0)"),
        ("self.power >= 2.0 and smallest == 0.0", "self.power > 2.0 and smallest == 0.0"),
        ("offset * (1.0 - self.power), offset", "offset, offset"),
        ("mean ** (1.0 - 0.5 * self.power)", "mean ** (1.0 - self.power)"),
        ("times - 1.0, 20.0)", "times - 1.0, 30.0)"),
        ("return max(found, 1.0)", "return found"),
    ),
)

QUANTILE = Group(
    "losses/quantile.py",
    ("tests/losses/test_linked_losses.py",),
    (
        ("_ROUNDING = 0.05", "_ROUNDING = 0.1"),
        ("_REACH = 0.5", "_REACH = 0.25"),
        ("_OF_NOISE = 0.7", "_OF_NOISE = 0.8"),
        ("return max(expected, min(found", "return max(0.0, min(found"),
        ("_MOST_FOUND = 2.0", "_MOST_FOUND = 3.0"),
        ("_OF_MOST = 0.9, 0.5", "_OF_MOST = 0.9, 0.6"),
        ("_MOST, _OF_MOST = 0.9", "_MOST, _OF_MOST = 0.8"),
        ("self.quantile * (1.0 - self.quantile) * self", "self.quantile * self"),
        ("(2.0 * self.quantile - 1.0) * away", "(self.quantile - 1.0) * away"),
        ("weight * (0.5 / away)", "weight * (0.4 / away)"),
        ("side * (2.0 * size)", "side * size"),
        ("_NEAR_SHARE = 0.02", "_NEAR_SHARE = 0.01"),
        ("0.5 + 0.5 * self.quantile)", "self.quantile)"),
        ("_NEAR_ROWS = 50.0", "_NEAR_ROWS = 40.0"),
        ("least = min(max(_NEAR_SHARE, _NEAR_ROWS / mass), 0.5)", "least = _NEAR_ROWS / mass"),
    ),
)

BACK_ON_ROWS = Group(
    "fitting/joint/sweep.py",
    ("tests/fitting/test_refinement.py",),
    (
        (
            "rows.predict_anew, axes.offset, curves.intercept, effects",
            "rows.predict_anew, axes.offset, 0.0, effects",
        ),
        (
            "zip(curves.stages, of_stages, strict=True)",
            "zip(curves.stages[:1], of_stages, strict=False)",
        ),
    ),
)

BY_WAY_OF_NEARER = Group(
    "fitting/joint/fit.py",
    ("tests/estimators/test_losses.py",),
    (
        ("rate=DAMPED)\n        self._centre()\n\n    def merge", "rate=DAMPED)\n\n    def merge"),
        ("        self._aim_at(nearer)\n", ""),
        ("if self._aim.takes_spread:  # a wild", "if False:  # a wild"),
        (
            "self._carrier.each(rows.renew, self._loss_now, level)",
            "self._carrier.each(rows.renew, self._loss_now)",
        ),
        ("        self._aim = loss\n        self._centre()\n", "        self._aim = loss\n"),
    ),
    compiled=True,
)

GOING_ON = Group(
    "fitting/joint/fit.py",
    ("tests/fitting/test_growth.py",),
    (("        fit.restore(self.curves)\n", ""),),
    compiled=True,
)

START = Group(
    "fitting/joint/start.py",
    ("tests/fitting/test_start.py",),
    (
        ("GRID_BINS = 8_192", "GRID_BINS = 4_096"),
        ("_FEWEST_BINS = 32", "_FEWEST_BINS = 64"),
        ("GRID_BINS // n_axes", "GRID_BINS"),
        ("_ENDS = 4", "_ENDS = 3"),
        ("len(axis.edges) < most:", "len(axis.edges) < 3:"),
        ("- 0.5 * ordered)", ")"),
        ("+ 1e-6)) > 0", "+ 0.5)) > 0"),
        ("begins[:_ENDS] = begins[-_ENDS:] = True", "begins[:_ENDS] = True"),
        ("[missing]])", "[missing - 1]])"),
        ("axis.edges[begins]", "axis.edges[: missing - 1]"),
        ("branch.log_factors[self.of])", "np.sort(branch.log_factors[self.of]))"),
        ("grid.log_factors[:, self.of], grid", "grid.log_factors[::-1, self.of], grid"),
        ("data.n_rows <= GRID_ROWS", "True"),
        ("some_rows(data, GRID_ROWS)", "np.arange(GRID_ROWS)"),
        ("pull if self._rows is None else pull[self._rows]", "pull[: self._data.n_rows]"),
        ("[self._joined.spread_grid(grid) for grid in grids]", "grids"),
    ),
)

FORMS = Group(
    "fitting/options.py",
    ("tests/fitting/test_growth.py",),
    (
        ("self.may_have_effects and not", "not"),
        ("if is_open else (self.must_have_effects,)", "if is_open else (False,)"),
        ("self.loss != LOG_LOSS or self.has_many_classes", "self.has_many_classes"),
        ("return self.loss_function.link is LOG", "return True"),
    ),
    compiled=True,
)

CERTAINTY = Group(
    "fitting/certainty.py",
    ("tests/fitting/test_certainty.py",),
    (
        ("_LEAST, _MOST = 0.5, 2.0", "_LEAST, _MOST = 0.6, 2.0"),
        ("_LEAST, _MOST = 0.5, 2.0", "_LEAST, _MOST = 0.5, 1.8"),
        ("weight @ _slopes(factor", "np.ones(len(weight)) @ _slopes(factor"),
        ("float(weight @ second)", "float(second.sum())"),
        ("float(weight @ first**2) / bend, 1.0)", "float(weight**2 @ first**2) / bend, 1.0)"),
        ("max(float(weight @ first**2) / bend, 1.0)", "(float(weight @ first**2) / bend)"),
        ("max(float(weight @ first**2) / bend, 1.0)", "1.0"),
        ("max(1.0 - variance / (found - 1.0) ** 2, 0.0)", "1.0"),
        ("_of_two(offset)", "0.0 * _of_two(offset)"),
        ("_LARGEST, _SMALLEST = 1e100", "_LARGEST, _SMALLEST = np.inf"),
        ("bend < _SMALLEST or found == 1.0", "found == 1.0"),
        ("_Slopes(mean - own,", "_Slopes(own - mean,"),
        ("(sums - mean[:, None]) ** 2", "sums ** 2"),
    ),
    compiled=True,
)

WHAT_IS_NOT_GIVEN_UP = Group(
    "fitting/growth.py",
    ("tests/estimators/test_classifier.py",),
    (
        ("constant.is_over = constant.path.is_behind(effects.path)", "constant.is_over = True"),
        (
            "        if not self._options.grows_products_alone:\n            return\n",
            "",
        ),
    ),
    compiled=True,
)

WHAT_GREW = Group(
    "fitting/growth.py",
    ("tests/fitting/test_certainty.py",),
    (
        ("fit.restore(fit.curves.scaled(factor))", "pass"),
        ("self.growth.snapshots[self.growth.path.chosen]", "self.growth.snapshots[0]"),
        ("        yield held, model_of", "        yield self.parts[0].held_out, model_of"),
    ),
    compiled=True,
)

WHAT_IS_CERTAIN = Group(
    "fitting/jointly.py",
    ("tests/fitting/test_certainty.py",),
    (
        ("lambda one: scaled(one, factor, degree=0)", "lambda one: one"),
        (" and validation.eval_set is None:", ":"),
        ("if any(fit.data.n_rows < len(part.kept) for", "if any(False for"),
    ),
    compiled=True,
)

WHAT_IS_STACKED = Group(
    "fitting/joint/curves.py",
    ("tests/fitting/test_joint.py",),
    (
        ("is_whole and whole[n - 1].ctypes.data == parts[-1].ctypes.data", "is_whole"),
        ("if is_whole and ", "if "),
        ("any(part.base is not whole for part in parts)", "False"),
    ),
    compiled=True,
)

WHAT_HAS_ROOM = Group(
    "fitting/joint/rows.py",
    ("tests/fitting/test_joint.py",),
    (
        ("return room[len(products)] if", "return room[0] if"),
        ("        own[:] = stack\n", ""),
    ),
    compiled=True,
)

WHAT_IS_SCALED = Group(
    "fitting/joint/curves.py",
    ("tests/fitting/test_certainty.py",),
    (
        ("        other.scale[0] += math.log(factor)\n", ""),
        ("        effects.values *= factor\n", ""),
        ("Curves(self.intercept * factor, effects", "Curves(self.intercept, effects"),
    ),
    compiled=True,
)

GROUPS = (
    ROWS, FOUR_ROWS, EMITTED_ROWS, SWEEP, ROW_BLOCKS, CARRIERS, HUBER, SQUARED, LINK,
    WEIGHTS, WEIGHTS_OF_CLASSES, WHAT_IS_NOT_GIVEN_UP,
    BLOCK, SCALE, SWEPT, BANDED, ISOTONIC, REFINE, SUMS,
    COMPILED_SUMS, EVALUATE, RANDOM, SCALAR, SORTING, SHAPLEY, ALS, JOINT,
    SETUP, COORDINATES, COORDINATES_WHEN_PRUNED,
    WHAT_IS_PRUNED, CURVES, ROUGHNESS, CLASSES, PRUNE,
    SELECTION, CELLS, COPIES, PARTS, GROWTH, JOINTLY, CERTAINTY, WHAT_GREW, WHAT_IS_CERTAIN,
    WHAT_IS_SCALED, WHAT_IS_STACKED, WHAT_HAS_ROOM, TWINS,
    SMOOTHING, LOSS, LOG_LOSS, POWER, QUANTILE, BACK_ON_ROWS, BY_WAY_OF_NEARER, GOING_ON,
    START, FORMS,
)  # fmt: skip
