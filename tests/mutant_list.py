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
    ("tests/kernels/test_sweep.py",),
    (
        (") + (minus - products[1, i])", ") - (minus - products[1, i])"),
        ("np.uint64(entered[i]),", "np.uint64(left[i]),"),
        ("            w_plus * minus,\n", "            w_plus * plus,\n"),
        ("            w_minus * r,\n", "            w_plus * r,\n"),
        ("= weight[i] * plus, weight[i] * minus", "= plus, weight[i] * minus"),
        ("(plus - products[0, i]) - (minus", "(plus - products[0, i]) + (minus"),
        ("uv += wu * v", "uv += wu * u"),
        ("rv += wv * r\n", "rv += wu * r\n"),
        ("rruu += wu * u * r * r", "rruu += wu * u"),
        ("rrvv += wv * v * r * r", "rrvv += wv * v"),
        ("total += weight[i] * residual[i]\n", "total += residual[i]\n"),
        ("mass += weight[i]\n", "mass += 1.0\n"),
        ("square += weight[i] * residual[i] * residual[i]", "square += residual[i] * residual[i]"),
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
        ("residual[i] -= effects[offset[j] +", "residual[i] -= effects["),
    ),
)

SWEEP = Group(
    "fitting/joint/sweep.py",
    ("tests/kernels/test_sweep.py",),
    (
        ("_IDLE = 1e-14", "_IDLE = -1.0"),
        (
            "            _sweep_effects(carrier, curves.effects, axes, rules, noise)\n",
            "            pass\n",
        ),
        ("            if stop[0]:\n", "            if False:\n"),
        ("rules)\n        if stop[0]:\n", "rules)\n        if False:\n"),
        ("    return settle(carrier, curves, rules)[0]", "    return mean_square"),
        ("    carrier.each(rows.renew, rules.loss)\n", ""),
        ("    if rules.fit_intercept:\n", "    if True:\n"),
        ("shift = float(total / working)", "shift = 0.5 * float(total / working)"),
        ("curves.intercept += shift", "curves.intercept -= shift"),
        ("        carrier.each(rows.lower, shift)\n", ""),
        ("_, _, square, mass = carrier", "_, mass, square, _ = carrier"),
        ("curves.freedom + 2.0 * len(curves.stages) + 1.0", "curves.freedom + 1.0"),
        ("len(curves.stages) + 1.0, 0.5 * mass", "len(curves.stages), 0.5 * mass"),
        ("+ 1.0, 0.5 * mass)", "+ 1.0, 0.9 * mass)"),
        ("return mass / (mass - spent)", "return 1.0"),
        (
            "moments = carrier.total(rows.moments, number)",
            "moments = carrier.total(rows.moments, 0)",
        ),
        ("moments[RRUU] / max(moments[UU], 1e-300)", "moments[RRVV] / moments[VV]"),
        ("moments[RRUU] / max(moments[UU], 1e-300)", "moments[RRUU] / moments[UU]"),
        ("np.maximum(local, noise.mean_square) * noise.inflation", "local * noise.inflation"),
        ("np.maximum(local, noise.mean_square) * noise.inflation", "0 * local + noise.mean_square"),
        (", noise.mean_square) * noise.inflation", ", noise.mean_square)"),
        ("energy = rules.energy * noise.mean_square", "energy = rules.energy"),
        ("backbone, tilt = scale_step(moments, energy, stage.present)", "backbone = tilt = 0.0"),
        ("stage.scale += (backbone, tilt)", "stage.scale += (backbone, -tilt)"),
        ("left, factors = j, np.empty((2, n_bins))", "factors = np.empty((2, n_bins))"),
        ("            rules.largest_step,\n", "            1.0,\n"),
        (
            "        if rules.rate > 0.0:\n            stage.freedom[j] = freedom",
            "        if True:\n            stage.freedom[j] = freedom",
        ),
        ("    carrier.each(rows.leave, number, left, factors)", "    return"),
        ("math.exp(backbone - tilt)", "math.exp(backbone + tilt)"),
        ("            noise.mean_square * noise.inflation,\n", "            noise.mean_square,\n"),
        ("left, step = j, np.empty(n_bins)", "step = np.empty(n_bins)"),
        ("            rules.rate,\n            step,\n", "            1.0,\n            step,\n"),
        (
            "        if rules.rate > 0.0:\n            effects.freedom[j] = freedom",
            "        if True:\n            effects.freedom[j] = freedom",
        ),
        ("    carrier.each(rows.leave_effect, left, step)", "    return"),
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
        ("block.target, block.response - block.residual,", "block.target, block.residual,"),
        ("block.residual += response - block.response", "pass"),
        ("        block.response = response\n", ""),
        (
            "kernels.weighted_residuals(block.residual, block.working)",
            "kernels.weighted_residuals(block.residual, block.weight)",
        ),
        ("    block.residual -= amount", "    block.residual += amount"),
        ("    block.products.append(products)", "    block.products.insert(0, products)"),
        ("    block.products.clear()\n", ""),
        ("block.response - intercept", "block.response"),
        ("    if effects is not None:\n", "    if False:\n"),
        ("size += plus + minus", "size += plus"),
        ("net += plus - minus", "net += plus + minus"),
    ),
)

CARRIERS = Group(
    "fitting/carriers.py",
    ("tests/fitting/test_carriers.py",),
    (
        ("for sums in parts[1:]:", "for sums in parts[2:]:"),
        ("            parts[0] += sums", "            parts[0] = sums"),
        ("for sums in parts[1:]:", "for sums in parts[:0:-1]:"),
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
        ("self.suited_to(target, weight)._weights", "self._weights"),
        ("weights=own))", "weights=weight))"),
        ("self._weights(target - prediction, weight)", "self._weights(prediction, weight)"),
        ("(2.0 * off - self.threshold)", "(2.0 * off + self.threshold)"),
        ("off <= self.threshold, off**2", "off <= 2.0 * self.threshold, off**2"),
        ("if not self._bends:\n            squared", "if False:\n            squared"),
        ("np.maximum(np.abs(residual), self.threshold)", "np.abs(residual) + self.threshold"),
        ("weight * (self.threshold / off)", "self.threshold / off"),
        ("below = np.cumsum(weight[order])", "below = np.cumsum(weight)"),
        ("below[-1] / 2)", 'below[-1] / 2, "right")'),
    ),
)

SQUARED = Group(
    "losses/squared_error.py",
    ("tests/losses/test_losses.py",),
    (
        ("rate: float = 1.0", "rate: float = 0.5"),
        ("np.average(target, weights=weight)", "np.average(target)"),
        ("return Working(target, weight)", "return Working(target, weight.copy())"),
        ("(target - prediction) ** 2", "np.abs(target - prediction)"),
    ),
)

BLOCK = Group(
    "kernels/block.py",
    ("tests/kernels/test_block.py", "tests/kernels/test_sweep.py"),
    (
        ("SMOOTH_BINS = 20", "SMOOTH_BINS = 21"),
        ("SMOOTH_BINS = 20", "SMOOTH_BINS = 19"),
        ("_HOLD = 1e-4", "_HOLD = 1e-5"),
        ("_LEAST_BACKBONE = 1e-3", "_LEAST_BACKBONE = 1e-2"),
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
        ("(mu[SIZE] + _HOLD / n_bins)", "(mu[SIZE] + _HOLD)"),
        ("to_end = min(b, n_ordered - 1 - b)", "to_end = min(b, n_bins - 1 - b)"),
        ("first * (1.0 if to_end == 0 else 2.0)", "first * 2.0"),
        ("5.0 if to_end == 1 else 6.0", "6.0"),
        ("2.0 if b == 0 or b + 2 == n_ordered else 4.0", "2.0 if b == 0 else 4.0"),
        ("next_but_one += second", "next_but_one -= second"),
        ("pull += penalty[1, i] * curve[i + stride]", "pull -= penalty[1, i] * curve[i + stride]"),
        ("pull += penalty[2, i - 2 * stride]", "pull += penalty[2, i]"),
        ("step[i] = -pull_of(penalty, curve, i, 2)", "step[i] = 0.0"),
        ("s11 + s22 - 2.0 * s12 + 2.0 * both", "s11 + s22 - 2.0 * s12"),
        ("t1 - t2 - both", "t1 - t2"),
        ("= s11 - s22 + 2.0 * gap", "= s11 - s22"),
        ("s11 + s22 + 2.0 * s12 + 2.0 * both", "s11 + s22 + 2.0 * s12"),
        ("t1 + t2 - gap", "t1 + t2"),
        ("        if free[0] and free[1]:\n", "        if free[1]:\n"),
        ("2.0 * penalty[1, i] * (curve", "penalty[1, i] * (curve"),
        ("2.0 * penalty[2, i] * (curve", "penalty[2, i] * (curve"),
        ("total += 0.5 * (block.energy[0, b] + block.energy[1, b])", "total += 0.0"),
        ("+ block.energy[1, b] * minus * minus", "+ block.energy[1, b] * minus"),
        ("total += plus * (0.5 * plus * s11 - t1)", "total += plus * (0.5 * plus * s11)"),
        ("0.5 * energy - plus * minus * s12", "0.5 * energy + plus * minus * s12"),
        (
            "plus_weight[b] = block.sums[b, PLUS_PLUS] + block.penalty[0, 2 * b]",
            "plus_weight[b] = block.sums[b, PLUS_PLUS] + 1.0",
        ),
        (
            "minus_weight[b] = block.sums[b, MINUS_MINUS]",
            "minus_weight[b] = block.sums[b, PLUS_PLUS]",
        ),
        ("make_monotone(plus, plus_weight, direction)", "make_monotone(plus, plus_weight, 1)"),
        ("minus_weight, -direction)", "minus_weight, direction)"),
        ("            beta, delta = plus[b], 0.0\n", "            beta, delta = minus[b], 0.0\n"),
        ("            beta, delta = minus[b], 0.0\n", "            beta, delta = plus[b], 0.0\n"),
        ("if free[0] and free[1] else 0.0", "if free[0] else 0.0"),
        ("0.5 * (plus[b] - minus[b]) if free[1] else 0.0", "0.5 * (plus[b] - minus[b])"),
        ("0.5 * (plus[b] - minus[b])", "0.5 * (plus[b] + minus[b])"),
        ("> before + 1e-12 * abs(before)", "> math.inf"),
        ("0.5 * share if share > 1e-2", "0.25 * share if share > 1e-2"),
        ("share if share > 1e-2 else", "share if share > 1e-1 else"),
        ("            objective_at_rest(block, n_bins)\n", ""),
        ("block.curve[i] += share * block.step[i]", "block.curve[i] += 0.0 * block.step[i]"),
        ("block.curve[i] += share * block.step[i]", "block.curve[i] += block.step[i]"),
        ("mu[1], 1, 2, curvature[1],", "mu[1], 1, 2, curvature[0],"),
        (
            "min(max(block.step[i], -largest_step), largest_step)",
            "max(block.step[i], -largest_step)",
        ),
        ("    if direction != 0:\n        constrain", "    if direction > 0:\n        constrain"),
        ("    take_step(block, n_bins)\n", "    objective(block, n_bins, 1.0)\n"),
        ("return max(uu, _LEAST_BACKBONE * vv), vv", "return vv, vv"),
        ("- 2.0 * bands[stride, at]", "- bands[stride, at]"),
        ("+ 2.0 * bands[2 * stride, at]", "- 2.0 * bands[2 * stride, at]"),
        ("value += 4.0 * bands[0, at + stride]", "value += 2.0 * bands[0, at + stride]"),
        ("penalty[k, start + stride * b]", "penalty[k, stride * b]"),
        ("prior_inverse[0, b] - inverse[0, i]", "prior_inverse[0, b]"),
        ("square[SIZE] += here * here", "square[SIZE] += abs(here)"),
        ("(curve[i + stride] - here) ** 2", "(curve[i + stride] - here)"),
        ("trace[FIRST] -= differences_trace(", "trace[FIRST] += differences_trace("),
        ("(here - 2.0 * curve[i + stride]", "(here - curve[i + stride]"),
        ("trace[SECOND] -= differences_trace(", "trace[SECOND] += differences_trace("),
        ("t = max(mu[c] * curvature * trace[c]", "t = max(mu[c] * trace[c]"),
        ("change = noise * t / max", "change = t / max"),
        ("_SMALLEST_SQUARE) / curvature /", "_SMALLEST_SQUARE) /"),
        ("max(change**rate,", "max(change,"),
        ("1.0 / _LARGEST_CHANGE)", "0.5)"),
        ("        freedom += t\n", "        freedom = t\n"),
        ("block.energy[1, b] = energy * sums[b, MINUS_MINUS]", "block.energy[1, b] = 0.0"),
        (
            "= curves[0, first + b], curves[1, first + b]\n    curv",
            "= curves[1, first + b], curves[0, first + b]\n    curv",
        ),
        ("            if free[side]:\n", "            if True:\n"),
        (
            "                freedom += learn_penalties(",
            "                freedom = learn_penalties(",
        ),
        ("                    noise[side],\n", "                    noise[0],\n"),
        (
            "                    rate,\n                    n_ordered",
            "                    1.0,\n                    n_ordered",
        ),
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
        ("        curvature += sums[b, 0]\n", "        curvature += 1.0\n"),
        ("penalty[0, b] + sums[b, 0],", "penalty[0, b] + 1.0,"),
        ("step[b] = sums[b, 1] - pull_of(penalty, curve, b, 1)", "step[b] = sums[b, 1]"),
        ("ordered[b] = curve[b] + step[b]", "ordered[b] = step[b]"),
        ("make_monotone(ordered, stiffness, direction)", "make_monotone(ordered, stiffness, 1)"),
        ("        stiffness[b] = system[0, b]\n", "        stiffness[b] = 1.0\n"),
        ("share = falling_share(sums, penalty, curve, step)", "share = 1.0"),
        ("        step[b] *= share\n", ""),
        ("        effects[first + b] = curve[b]\n", ""),
        ("    if rate == 0.0:\n        return 0.0\n", ""),
        ("slope += step[b] * (sums[b, 1] - pull", "slope += step[b] * (sums[b, 1] + pull"),
        ("sums[b, 0] * step[b] + pull_of", "sums[b, 0] * step[b] - pull_of"),
        ("min(max(slope / bend, 0.0), 1.0)", "max(slope / bend, 0.0)"),
        ("min(max(slope / bend, 0.0), 1.0)", "min(slope / bend, 1.0)"),
    ),
)

BANDED = Group(
    "kernels/banded.py",
    ("tests/kernels/test_banded.py",),
    (
        ("pivot -= lower[k, i - k]", "pivot += lower[k, i - k]"),
        ("for k in range(before, 0, -1):", "for k in range(before - 1, 0, -1):"),
        ("range(min(q - k, before), 0, -1)", "range(min(q - k, before) - 1, 0, -1)"),
        ("bands[k, i] = element\n        lower", "lower"),
        ("lower[k, i] = element * inverse", "lower[k, i] = element"),
        ("for i in range(q, n - q):", "for i in range(q + 1, n - q):"),
        ("for k in range(i, 0, -1):", "for k in range(i - 1, 0, -1):"),
        ("x[i] *= inverse_pivots[i]", "x[i] *= 1.0"),
        ("for k in range(n - 1 - i, 0, -1):", "for k in range(n - 2 - i, 0, -1):"),
        ("value -= lower[k, i] * x[i + k]", "value += lower[k, i] * x[i + k]"),
        ("inverse[second - first, first]", "inverse[second - first, i]"),
        ("diagonal = inverse_pivots[i]", "diagonal = 1.0"),
        ("diagonal -= lower[m, i] * inverse[m, i]", "diagonal += lower[m, i] * inverse[m, i]"),
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
        ("total += log_factors[offset[j] +", "total += log_factors["),
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
        ("+ 0.5) * slice_", "+ 1.5) * slice_"),
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
        ("N_SWEEPS = 12  #", "N_SWEEPS = 11  #"),
        ("STAGE_SWEEPS = 200", "STAGE_SWEEPS = 100"),
        ("_SMALLEST_LAMBDA = 1e-3", "_SMALLEST_LAMBDA = 1e-2"),
        ("_LARGEST_LEVEL = 4.0", "_LARGEST_LEVEL = 3.0"),
        (
            "self._residual = data.target - self.curves.intercept",
            "self._residual = data.target.copy()",
        ),
        ("            self.refine(N_SWEEPS, rate=1.0)\n", "            pass\n"),
        ("if idle and (self._options.fit_intercept or bool(self.curves.stages)):", "if idle:"),
        ("rate=self._options.loss_function.rate)", "rate=1.0)"),
        ("max(0, STAGE_SWEEPS // self._options.n_stages - N_SWEEPS), rate=0.5", "0, rate=0.5"),
        ("rules = self._rules(rate)", "rules = self._rules(1.0)"),
        (")\n        self.curves.fix_gauge(self._data.bins)\n", ")\n"),
        ("self.curves = snapshot.copy()", "self.curves = snapshot"),
        (
            "rows.predict_anew, offset, self.curves.intercept, values)",
            "rows.predict_anew, offset, 0.0, values)",
        ),
        (
            "        for stage in self.curves.stages:\n            self._c",
            "        for stage in self.curves.stages[:1]:\n            self._c",
        ),
        ("self._bags = self._bags[: len(self.curves.stages)]", "pass"),
        ("b and _monotone(b, self._axes)", "b"),
        ("logs[0], logs[-1]", "logs[-1], logs[0]"),
        ("0.5 * (plus - minus)]),", "0.5 * (minus - plus)]),"),
        ("0.5 * (log_plus - log_minus)]),", "0.5 * (log_minus - log_plus)]),"),
        ("= (True, bool(present.all()))", "= (True, True)"),
        ("active[list(self._axes.order)] =", "active[:] ="),
        ("for b in columns] for a in columns", "for b in columns] for a in columns[:1] * 2"),
        ("weighted_dot(column, residual, data", "weighted_dot(column, data.target, data"),
        ("rows.reweighted(self._carrier.blocks, weight)", "self._carrier.blocks"),
        (
            "        curves = self.curves.copy()\n        # Moves",
            "        curves = self.curves\n        # Moves",
        ),
        ("self._rules(0.0), n_sweeps", "self._rules(1.0), n_sweeps"),
        ("        curves.fix_gauge(self._data.bins)\n        there", "        there"),
        ("move.curves[k] - centre.curves[k]", "move.curves[k] + centre.curves[k]"),
        ("move.scales[k] - centre.scales[k]", "move.scales[k]"),
        ("move.effects - centre.effects", "move.effects"),
        ("float(move.intercept - centre.intercept)", "float(centre.intercept)"),
        (
            "suited_to(self._residual, self._data.weight)",
            "suited_to(self._data.target, self._data.weight)",
        ),
        (
            "            fit_intercept=self._options.fit_intercept,",
            "            fit_intercept=True,",
        ),
        ("rate=rate if self._learns else 0.0", "rate=rate"),
        ("energy=self._energy", "energy=self._options.energy"),
        ("    if options.fit_intercept:\n", "    if True:\n"),
        ("effects=effects)\n", "effects=None)\n"),
        ("stage.scale[0] + sign * stage.scale[1]", "stage.scale[0] + stage.scale[1]"),
        ("stage.curves[0] + sign * stage.curves[1]", "stage.curves[0] + stage.curves[1]"),
        ("used[order] > 1", "used[order] > 0"),
        ("varying if len(varying) else order[:1]", "varying"),
        ('order = np.argsort(hashes, kind="stable")', "order = np.arange(len(hashes))"),
        ("> _LARGEST_LEVEL or options.main_effects", "> _LARGEST_LEVEL"),
        ("if options.fit_intercept and far else", "if far else"),
        ("first_penalties(data, options)[:, 0]", "0.1 * first_penalties(data, options)[:, 0]"),
        ("options.loss_function.constant(data.target, data.weight)", "float(np.mean(data.target))"),
        ("weight = axes.bins.frequencies[part] + 1e-12", "weight = np.ones(n_ordered)"),
        ("float(branch.coefficient_sign * direction)", "float(direction)"),
        ("if sign * direction > 0 else", "if sign * direction < 0 else"),
    ),
)

CURVES = Group(
    "fitting/joint/curves.py",
    ("tests/fitting/test_refinement.py", "tests/kernels/test_sweep.py"),
    (
        ("if self.present[0] else 0.0, minus if", "if self.present[1] else 0.0, minus if"),
        ("[j for j in axes.order if self.active[j].any()]", "list(axes.order)"),
        ("        self.active &= ~idle\n", ""),
        ("            self.curves[side, axes.bins.axis(int(j))] = 0.0\n", "            pass\n"),
        ("        self.freedom[~self.active.any(axis=1)] = 0.0\n", ""),
        ("stages=[stage.copy() for stage in self.stages]", "stages=list(self.stages)"),
        ("None if self.effects is None else self.effects.copy()", "self.effects"),
        ("float(self.effects.freedom.sum()))", "0.0)"),
        ("            stage.scale += taken_off\n", "            stage.scale -= taken_off\n"),
        ("self.intercept += float(level)", "pass"),
    ),
)

GROWTH = Group(
    "fitting/growth.py",
    ("tests/fitting/test_growth.py", "-k", "callback or grown_once"),
    (
        (
            "[fit.curves.copy() for fit in starts])\n        if",
            "[fit.curves for fit in starts])\n        if",
        ),
        ("        if path.is_over:\n", "        if False:\n"),
        ("    kept = min(kept + 1, path.best)", "    kept = min(kept, path.best)"),
        ("snapshots[kept + 1], rounds[kept]", "snapshots[kept + 1], rounds[-1]"),
        ("        fit.restore(snapshot)\n", "        pass\n"),
        (
            "for k in range(n_starts) for records in rounds",
            "for records in rounds for k in range(n_starts)",
        ),
        ("    return any(ends)", "    return all(ends)"),
        ("min(options.n_starts, max(1,", "min(1, max(1,"),
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
        ("data.bins.n_axes / float(data.weight.sum())", "data.bins.n_axes / len(data.weight)"),
        ("(size * stiffness)[:, None]", "size[:, None]"),
        ("smoothness * bins / 255.0**2", "smoothness / 255.0**2"),
    ),
)

GROUPS = (
    ROWS, SWEEP, ROW_BLOCKS, CARRIERS, HUBER, SQUARED, BLOCK, BANDED, ISOTONIC, REFINE, SUMS,
    COMPILED_SUMS, EVALUATE, RANDOM, SCALAR, SORTING, SHAPLEY, ALS, JOINT, CURVES, GROWTH,
    SMOOTHING,
)  # fmt: skip
