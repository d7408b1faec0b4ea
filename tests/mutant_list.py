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


SWEEP = Group(
    "kernels/sweep.py",
    ("tests/kernels/test_sweep.py",),
    (
        ("_LARGEST_SCALE_STEP = 0.3", "_LARGEST_SCALE_STEP = 0.4"),
        ("_LEAST_CURVATURE = 1e-6", "_LEAST_CURVATURE = 1e-5"),
        (") + (minus - products[1, i])", ") - (minus - products[1, i])"),
        (
            "w = huber_weight(weight[i], r, kappa)\n        w_plus",
            "w = weight[i]\n        w_plus",
        ),
        ("np.uint64(entered[i]),", "np.uint64(left[i]),"),
        ("            w_plus * minus,\n", "            w_plus * plus,\n"),
        ("            w_minus * r,\n", "            w_plus * r,\n"),
        ("(plus - products[0, i]) - (minus", "(plus - products[0, i]) + (minus"),
        ("shift = total / mass if rules.fit_intercept else 0.0", "shift = total / mass"),
        ("    intercept[0] += shift", "    intercept[0] -= shift"),
        ("        residual[i] -= shift\n", "        residual[i] -= 0.0\n"),
        ("square += w * residual[i]", "square += weight[i] * residual[i]"),
        ("mass += weight[i]\n    return", "mass += w\n    return"),
        ("uv += wu * v", "uv += wu * u"),
        ("rv += wv * r\n", "rv += wu * r\n"),
        ("ruu += wu * u * r * r", "ruu += wu * u"),
        ("rvv += wv * v * r * r", "rvv += wv * v"),
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
        ("block.sums[b, :] = 0.0", "block.sums[b, :] += 0.0"),
        (
            "= block.curve[2 * b], block.curve[2 * b + 1]",
            "= block.curve[2 * b + 1], block.curve[2 * b]",
        ),
        (
            "freedom = learn_penalties(block, mu, 0, curvature[0], noise[0], rate,",
            "freedom = learn_penalties(block, mu, 0, curvature[0], noise[0], 1.0,",
        ),
        ("curvature[1], noise[1], rate,", "curvature[1], noise[0], rate,"),
        ("freedom += learn_penalties", "freedom = learn_penalties"),
        ("if vv < 1e-14 * table.weight.sum():", "if vv < 0.0:"),
        (
            "noise_backbone = max(ruu / max(uu, 1e-300), mean_square) * inflation",
            "noise_backbone = mean_square * inflation",
        ),
        ("max(ruu / max(uu, 1e-300), mean_square)", "ruu / max(uu, 1e-300)"),
        ("ruu / max(uu, 1e-300)", "ruu / uu"),
        ("noise_tilt = max(rvv / vv, mean_square)", "noise_tilt = mean_square"),
        ("noise_tilt = max(rvv / vv, mean_square)", "noise_tilt = rvv / vv"),
        ("max(rvv / vv, mean_square) * inflation", "max(rvv / vv, mean_square)"),
        ("energy = rules.energy * mean_square", "energy = rules.energy"),
        (
            "backbone, tilt = falling_scale_step(uu, vv, uv, ru, rv, energy, present)",
            "backbone, tilt = 0.0, 0.0",
        ),
        ("state.scales[stage, 1] += tilt", "state.scales[stage, 1] -= tilt"),
        ("= math.exp(backbone - tilt)", "= math.exp(backbone + tilt)"),
        ("        left = j\n", "        left = left\n"),
        (
            "block.energy[1, b] = energy * block.sums[b, 2]",
            "block.energy[1, b] = energy * block.sums[b, 0]",
        ),
        ("        if rules.learns:\n", "        if True:\n"),
        ("    multiply_last(table.codes[left]", "    return\n    multiply_last(table.codes[left]"),
        ("2.0 * n_stages + 1.0, 0.5 * total", "2.0 * n_stages, 0.5 * total"),
        ("+ 1.0, 0.5 * total)", "+ 1.0, 0.9 * total)"),
        ("inflation = total / (total - spent)", "inflation = 1.0"),
        ("            if stop[0]:", "            if False:"),
        (
            "    return centre_residual(state.residual, table.weight, rules, state.intercept)",
            "    return mean_square",
        ),
        (
            "minus[:] = state.scales[stage, 0] - state.scales",
            "minus[:] = state.scales[stage, 0] + state.scales",
        ),
        ("minus[i] += beta[b] - delta[b]", "minus[i] += beta[b] + delta[b]"),
        ("if has_minus else 0.0", "if has_plus else 0.0"),
        ("state.residual[i] -= plus[i] - minus[i]", "state.residual[i] -= plus[i]"),
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
        ("_SMALLEST_SQUARE = 1e-12", "_SMALLEST_SQUARE = 1e-13"),
        ("uu += squares - cross", "uu += squares + cross"),
        ("vv += squares + cross", "vv += squares"),
        ("if n_ordered > 1 else 0.0", "if n_ordered > 0 else 0.0"),
        ("(mu[side, SIZE] + _HOLD / n_bins)", "(mu[side, SIZE] + _HOLD)"),
        ("to_end = min(b, n_ordered - 1 - b)", "to_end = min(b, n_bins - 1 - b)"),
        ("first * (1.0 if to_end == 0 else 2.0)", "first * 2.0"),
        ("5.0 if to_end == 1 else 6.0", "6.0"),
        ("2.0 if b == 0 or b + 2 == n_ordered else 4.0", "2.0 if b == 0 else 4.0"),
        ("next_but_one += second", "next_but_one -= second"),
        ("pull += penalty[1, i] * curve[i + 2]", "pull -= penalty[1, i] * curve[i + 2]"),
        ("pull += penalty[2, i - 4] * curve[i - 4]", "pull += penalty[2, i] * curve[i - 4]"),
        ("step[i] = -pull", "step[i] = 0.0"),
        ("s11 + s22 - 2.0 * s12 + 2.0 * both", "s11 + s22 - 2.0 * s12"),
        ("t1 - t2 - both", "t1 - t2"),
        ("= s11 - s22 + 2.0 * gap", "= s11 - s22"),
        ("s11 + s22 + 2.0 * s12 + 2.0 * both", "s11 + s22 + 2.0 * s12"),
        ("t1 + t2 - gap", "t1 + t2"),
        ("        if two:\n", "        if True:\n"),
        ("2.0 * penalty[1, i] * (curve", "penalty[1, i] * (curve"),
        ("2.0 * penalty[2, i] * (curve", "penalty[2, i] * (curve"),
        ("total += 0.5 * (block.energy[0, b] + block.energy[1, b])", "total += 0.0"),
        ("+ block.energy[1, b] * minus * minus", "+ block.energy[1, b] * minus"),
        ("(0.5 * minus * s22 + t2)", "(0.5 * minus * s22 - t2)"),
        ("0.5 * energy - plus * minus * s12", "0.5 * energy + plus * minus * s12"),
        (
            "plus_weight[b] = block.sums[b, 0] + block.penalty[0, 2 * b]",
            "plus_weight[b] = block.sums[b, 0] + 1.0",
        ),
        ("minus_weight[b] = block.sums[b, 2]", "minus_weight[b] = block.sums[b, 0]"),
        ("make_monotone(plus, plus_weight, direction)", "make_monotone(plus, plus_weight, 1)"),
        ("minus_weight, -direction)", "minus_weight, direction)"),
        ("        minus[:] = plus\n", "        pass\n"),
        ("        plus[:] = minus\n", "        pass\n"),
        ("0.5 * (plus[b] - minus[b])", "0.5 * (plus[b] + minus[b])"),
        ("> before + 1e-12 * abs(before)", "> math.inf"),
        ("0.5 * share if share > 1e-2", "0.25 * share if share > 1e-2"),
        ("share if share > 1e-2 else", "share if share > 1e-1 else"),
        ("            objective_at_rest(block, n_bins)\n", ""),
        ("block.curve[i] += share * block.step[i]", "block.curve[i] += 0.0 * block.step[i]"),
        ("block.curve[i] += share * block.step[i]", "block.curve[i] += block.step[i]"),
        ("mu, 1, vv, n_bins, n_ordered)", "mu, 1, uu, n_bins, n_ordered)"),
        (
            "min(max(block.step[2 * b + side], -rules.largest_step), rules.largest_step)",
            "max(block.step[2 * b + side], -rules.largest_step)",
        ),
        ("    if direction != 0:", "    if direction > 0:"),
        ("    take_step(block, n_bins)\n", "    objective(block, n_bins, 1.0)\n"),
        ("    return uu, vv\n", "    return vv, vv\n"),
        ("- 2.0 * bands[stride, at]", "- bands[stride, at]"),
        ("+ 2.0 * bands[2 * stride, at]", "- 2.0 * bands[2 * stride, at]"),
        ("value += 4.0 * bands[0, at + stride]", "value += 2.0 * bands[0, at + stride]"),
        ("block.penalty[k, 2 * b + side]", "block.penalty[k, 2 * b]"),
        ("block.prior_inverse[0, b] - block.inverse[0, i]", "block.prior_inverse[0, b]"),
        ("square[SIZE] += here * here", "square[SIZE] += abs(here)"),
        ("(block.curve[i + 2] - here) ** 2", "(block.curve[i + 2] - here)"),
        ("trace[FIRST] -= differences_trace(", "trace[FIRST] += differences_trace("),
        ("here - 2.0 * block.curve[i + 2]", "here - block.curve[i + 2]"),
        ("trace[SECOND] -= differences_trace(", "trace[SECOND] += differences_trace("),
        ("t = max(mu[side, c] * curvature * trace[c]", "t = max(mu[side, c] * trace[c]"),
        ("change = noise * t / max", "change = t / max"),
        ("_SMALLEST_SQUARE) / curvature /", "_SMALLEST_SQUARE) /"),
        ("max(change**rate,", "max(change,"),
        ("1.0 / _LARGEST_CHANGE)", "0.5)"),
        ("        freedom += t\n", "        freedom = t\n"),
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
        ("w = huber_weight(times[i], residual[i], rules.kappa)", "w = times[i]"),
        ("down / total if rules.two_branches else 0.0", "down / total"),
        ("moved = s[0] + s[2] - 2.0 * s[3]", "moved = s[0] + s[2] + 2.0 * s[3]"),
        ("(s[1] - s[4]) / moved", "(s[1] + s[4]) / moved"),
        ("        if state.is_cut[first + b]:\n", "        if False:\n"),
        ("        a3 += sums[flat, 3]", "        a3 += sums[flat, 4]"),
        ("most = prefix[hi - 1, 5] - min_samples", "most = prefix[hi - 1, 5]"),
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
        ("sums[bin_, 3] += s12", "sums[bin_, 3] += s11"),
        ("weight if size <= kappa", "weight if size <= 2.0 * kappa"),
        ("else weight * kappa / size", "else weight * kappa"),
        ("start[b + 1] += start[b]", "start[b + 1] += 0"),
        ("            position[b] += 1\n", ""),
        ("filled += np.uint64(times[np.uint64(i)] > 0.0)", "filled += np.uint64(1)"),
        ("        bag.start[offset[j + 1] + j] = filled", "        bag.start[offset[j]] = 0"),
        ("w * minus * minus, -w * plus * minus\n", "w * minus * minus, w * plus * minus\n"),
        ("t1, t2 = w * r * plus, -w * r * minus", "t1, t2 = w * r * plus, w * r * minus"),
        ("state.sums[b, 5] += times", "state.sums[b, 5] += 1.0"),
        ("new_r = r - (new_plus - plus) + (", "new_r = r - (new_plus - plus) - ("),
        (
            "new_w = huber_weight(state.rows[i, 0], new_r, rules.kappa)",
            "new_w = huber_weight(state.rows[i, 0], r, rules.kappa)",
        ),
        ("= new_plus, new_minus, new_r", "= new_plus, minus, new_r"),
        ("* new_plus * new_plus - w * plus", "* new_plus * new_plus - new_w * plus"),
        ("add_two(state.sums, b, s11, t1)\n        return", "return"),
        ("s12 = w * plus * minus - new_w", "s12 = w * plus * minus + new_w"),
        ("t2 = w * r * minus - new_w * new_r", "t2 = w * r * minus - new_w * r"),
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
        ("a = s11 + rules.ridge", "a = s11"),
        ("d = s22 + rules.ridge", "d = s22 + 2.0 * rules.ridge"),
        ("(a * d - s12 * s12)", "(a * d + s12 * s12)"),
        ("(d * t1 - s12 * t2)", "(d * t1 + s12 * t2)"),
        ("(a * t2 - s12 * t1)", "(d * t2 - s12 * t1)"),
        ("- a * u_plus - 2.0 * s12 * u_minus", "- a * u_plus - s12 * u_minus"),
        ("2.0 * t2 - d * u_minus", "2.0 * t2 - a * u_minus"),
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
    "fitting/joint.py",
    ("tests/fitting/test_refinement.py",),
    (
        ("N_SWEEPS = 12  #", "N_SWEEPS = 11  #"),
        ("STAGE_SWEEPS = 200", "STAGE_SWEEPS = 100"),
        ("_LARGEST_STEP = 0.2", "_LARGEST_STEP = 0.3"),
        ("_SMALLEST_LAMBDA = 1e-3", "_SMALLEST_LAMBDA = 1e-2"),
        ("_STARTING_FREEDOM = 5.0", "_STARTING_FREEDOM = 4.0"),
        ("_LARGEST_LEVEL = 4.0", "_LARGEST_LEVEL = 3.0"),
        ("if idle and (self._options.fit_intercept or len(self.state.scales) > 0):", "if idle:"),
        ('rate=0.5 if self._options.loss == "huber" else 1.0', "rate=1.0"),
        ("max(0, STAGE_SWEEPS // self._options.n_stages - N_SWEEPS), rate=0.5", "0, rate=0.5"),
        ("self._rules()._replace(rate=rate)", "self._rules()"),
        ("[0]\n        fix_gauge(self.state, self._data)", "[0]"),
        ("b and _monotone(b, self._table, frequencies)", "b"),
        ("logs[0], logs[-1]", "logs[-1], logs[0]"),
        ("0.5 * (plus - minus)]])", "0.5 * (minus - plus)]])"),
        ("0.5 * (log_plus - log_minus)]])", "0.5 * (log_minus - log_plus)]])"),
        ("fill_products(self._table, self.state, len(self.state.scales) - 1)", "pass"),
        ("for b in columns] for a in columns", "for b in columns] for a in columns[:1] * 2"),
        ("weighted_dot(column, residual, data", "weighted_dot(column, data.target, data"),
        ("net += plus - minus", "net += plus + minus"),
        ("        state = copied(self.state)\n", "        state = self.state\n"),
        ("rules = self._rules()._replace(learns=False)", "rules = self._rules()"),
        ("table = self._table._replace(weight=weight)", "table = self._table"),
        ("        fix_gauge(state, self._data)\n        here", "        here"),
        ("curves=here.curves + move.curves - centre", "curves=here.curves + move.curves + centre"),
        ("scales=here.scales + move.scales - centre.scales", "scales=here.scales + move.scales"),
        ("intercept=here.intercept + move.intercept", "intercept=here.intercept - move.intercept"),
        ("fit_intercept=self._options.fit_intercept,", "fit_intercept=True,"),
        ('learns=self._options.smoothness == "auto"', "learns=True"),
        ("energy=self._energy", "energy=self._options.energy"),
        ("    if options.fit_intercept:\n", "    if True:\n"),
        ("state.scales[:] += taken_off", "state.scales[:] -= taken_off"),
        ("float(b0 - d0), beta - delta)", "float(b0 - d0), beta + delta)"),
        ("used[order] > 1", "used[order] > 0"),
        ("varying if len(varying) else order[:1]", "varying"),
        ('order = np.argsort(hashes, kind="stable")', "order = np.arange(len(hashes))"),
        ("options.fit_intercept and abs(mean) >", "abs(mean) >"),
        ("> _LARGEST_LEVEL else 0.0", "> _LARGEST_LEVEL else mean"),
        ("        data.target - level,\n", "        data.target.copy(),\n"),
        ("weight = frequencies[part] + 1e-12", "weight = frequencies[part] * 0.0 + 1.0"),
        (
            "float(branch.coefficient_sign * table.direction[j])",
            "float(table.direction[j])",
        ),
        ("coefficient_sign * table.direction[j] > 0", "coefficient_sign * table.direction[j] < 0"),
    ),
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
    SWEEP, BLOCK, BANDED, ISOTONIC, REFINE, SUMS, COMPILED_SUMS, EVALUATE, RANDOM, SCALAR, SORTING,
    SHAPLEY, ALS, JOINT, SMOOTHING,
)  # fmt: skip
