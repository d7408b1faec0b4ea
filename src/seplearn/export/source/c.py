"""A model as a C file that needs the standard library alone (C99)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from seplearn.export.json import level_bins
from seplearn.export.source.text import head_lines, joined, listed, numbers
from seplearn.losses.links import LARGEST_LOG as LARGEST_LINKED
from seplearn.model.stage import LARGEST_LOG

# Of C and C++, and names that headers may define.
_KEYWORDS = frozenset({
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "class", "complex",
    "const", "constexpr", "continue", "default", "delete", "do", "double", "else", "enum",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "imaginary",
    "inline", "int", "long", "mutable", "namespace", "new", "noreturn", "nullptr", "operator",
    "private", "protected", "public", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "static_assert", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "typeof_unqual", "union", "unix", "unsigned", "using", "virtual", "void", "volatile",
    "while", "wchar_t", "and", "or", "not", "xor", "linux", "errno", "NULL", "NAN",
    "INFINITY", "EOF", "stdin", "stdout", "stderr", "math_errhandling",
})  # fmt: skip
# Macros of the file itself and of the headers it includes.
_MACROS = re.compile(
    r"N_(FEATURES|PARTS|CLASSES|NAMES_\d+)|INTERCEPT|LARGEST(_LOG|_SUM)?|RAND_MAX|MB_CUR_MAX"
    r"|(EXIT|FP|HUGE|M|MATH)_[A-Z0-9_]+|W(NOHANG|UNTRACED|STOPPED|EXITED|CONTINUED|NOWAIT)"
)
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+.,:;=<>()")

_TYPES = """
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { const char *name; int bin; } seplearn_level;
typedef struct { int feature; const double *values; } seplearn_effect;
typedef struct {
    int feature;
    const double *log_sizes;
    const unsigned char *negative; /* NULL: nowhere */
} seplearn_curve;
typedef struct {
    double sign, log_scale;
    int n_curves;
    const seplearn_curve *curves;
} seplearn_product;
typedef struct { int n_products; const seplearn_product *products; } seplearn_stage;
typedef struct {
    double intercept;
    int n_effects;
    const seplearn_effect *effects;
    int n_stages;
    const seplearn_stage *stages;
} seplearn_sum;
"""

_NUMBERS = """
/* The number of edges at or below a value; missing values have the bin after those. */
static int bin_of_number(const double *edges, int n_edges, double value)
{
    int low = 0, high = n_edges;
    if (isnan(value))
        return n_edges + 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (edges[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
"""

_LEVELS = """
static int compare_levels(const void *text, const void *level)
{
    return strcmp((const char *)text, ((const seplearn_level *)level)->name);
}

static int bin_of_level(const seplearn_level *levels, int n_names, int n_levels, const char *text)
{
    const seplearn_level *found;
    if (text == NULL)
        return n_levels + 1;
    found = n_names == 0
        ? NULL
        : bsearch(text, levels, (size_t)n_names, sizeof(seplearn_level), compare_levels);
    return found == NULL ? n_levels + 2 : found->bin;
}
"""

_PRODUCTS = """
static double value_of_product(const seplearn_product *product, const int *bins)
{
    double sign = product->sign, log_size = 0.0;
    int k;
    for (k = 0; k < product->n_curves; k++) {
        const seplearn_curve *curve = &product->curves[k];
        log_size += curve->log_sizes[bins[curve->feature]];
        if (curve->negative != NULL && curve->negative[bins[curve->feature]])
            sign = -sign;
    }
    return sign * exp(fmin(log_size + product->log_scale, LARGEST_LOG));
}
"""

_SUM = """
/* Writes main effects and stages to parts, and returns what they add up to with the constant. */
static double sum_of_bins(const seplearn_sum *terms, const int *bins, double *parts)
{
    int k, p;
    double total = 0.0;
    for (k = 0; k < terms->n_effects; k++) {
        parts[k] = terms->effects[k].values[bins[terms->effects[k].feature]];
        total += parts[k];
    }
    total += terms->intercept;
    for (k = 0; k < terms->n_stages; k++) {
        const seplearn_stage *stage = &terms->stages[k];
        double value = 0.0;
        for (p = 0; p < stage->n_products; p++)
            value += value_of_product(&stage->products[p], bins);
        parts[terms->n_effects + k] = value;
        total += value;
    }
    return fmin(fmax(total, -LARGEST), LARGEST);
}
"""

_ONE_SUM = """
static double sum_of_row(const struct row *row, double *parts)
{
    int bins[N_FEATURES];
    find_bins(row, bins);
    return sum_of_bins(&sums[0], bins, parts);
}

/* The sum for a row with its offset; NAN where that is not a finite number. */
static double whole_sum(const struct row *row, double offset)
{
    double parts[N_PARTS + 1];
    return isfinite(offset) ? sum_of_row(row, parts) + offset : NAN;
}
"""

_PREDICT = {
    "identity": """
/* The prediction for a row; offset is added, 0 if there is none. */
double predict(const struct row *row, double offset)
{
    return whole_sum(row, offset);
}
""",
    "log": """
/* The prediction for a row; offset (of an exposure its log, or 0) is added to the log of it. */
double predict(const struct row *row, double offset)
{
    double sum = whole_sum(row, offset);
    return isnan(sum) ? sum : exp(fmin(fmax(sum, -LARGEST_SUM), LARGEST_SUM));
}
""",
    "logit": """
static double probability(double log_odds)
{
    double small = exp(-fmin(fabs(log_odds), LARGEST_SUM));
    if (isnan(log_odds))
        return log_odds;
    if (log_odds >= 0.0)
        return 1.0 / (1.0 + small);
    return log_odds > -LARGEST_SUM ? small / (1.0 + small) : 0.0;
}

/* The probability of every class, in the order of class_names; offset, 0 if there is none, is
 * added to the log-odds. */
void predict_proba(const struct row *row, double offset, double probabilities[2])
{
    double log_odds = whole_sum(row, offset);
    probabilities[0] = probability(-log_odds);
    probabilities[1] = probability(log_odds);
}

/* The likelier class, as its place in class_names; -1 if the offset is not a finite number. */
int predict(const struct row *row, double offset)
{
    double log_odds = whole_sum(row, offset);
    return isnan(log_odds) ? -1 : log_odds > 0.0;
}
""",
    "softmax": """
/* The score of every class; returns the place of the largest. */
static int scores_of_row(const struct row *row, double scores[N_CLASSES])
{
    int bins[N_FEATURES], k, likeliest = 0;
    double parts[N_PARTS + 1];
    find_bins(row, bins);
    for (k = 0; k < N_CLASSES; k++) {
        scores[k] = sum_of_bins(&sums[k], bins, parts);
        if (scores[k] > scores[likeliest])
            likeliest = k;
    }
    return likeliest;
}

/* The probability of every class, in the order of class_names. */
void predict_proba(const struct row *row, double probabilities[N_CLASSES])
{
    double scores[N_CLASSES], total = 0.0;
    int k, likeliest = scores_of_row(row, scores);
    for (k = 0; k < N_CLASSES; k++) {
        probabilities[k] = exp(scores[k] - scores[likeliest]);
        total += probabilities[k];
    }
    for (k = 0; k < N_CLASSES; k++)
        probabilities[k] /= total;
}

/* The likeliest class, as its place in class_names. */
int predict(const struct row *row)
{
    double scores[N_CLASSES];
    return scores_of_row(row, scores);
}
""",
}

_EXPLAIN_CLASSES = """
/* Writes what adds up to the score of a class, given by its place in class_names, beside
 * intercepts[place], and returns the score; n_parts[place] of part_names[place] tell what. */
double explain(const struct row *row, int place, double parts[N_PARTS + 1])
{
    int bins[N_FEATURES];
    find_bins(row, bins);
    return sum_of_bins(&sums[place], bins, parts);
}
"""

_EXPLAIN = """
/* Writes what adds up to the sum, beside INTERCEPT, and returns the sum; see part_names. */
double explain(const struct row *row, double parts[N_PARTS + 1])
{
    return sum_of_row(row, parts);
}
"""


def c_source(plain: dict[str, Any], explain: bool) -> str:
    """A file with ``struct row`` and ``predict``, of a classifier ``predict_proba`` too.

    With ``explain`` there is a function of that name for the parts of the sum, or of one class.
    """
    fields = _field_names([feature["name"] for feature in plain["features"]])
    head = "\n".join(f" * {line}" for line in head_lines(plain))
    parts = [
        f"/*\n{head}\n */",
        _TYPES,
        _constants(plain),
        _row_struct(plain["features"], fields),
        *_bins(plain["features"]),
        *(part for k, terms in enumerate(plain["sums"]) for part in _curves(f"sum_{k}", terms)),
        _sums(plain["sums"]),
    ]
    if plain["classes"] is not None:
        labels = [_text(str(label)) for label in plain["classes"]]
        parts.append(listed(labels, "const char *const class_names[] = {", "};"))
    kinds = {feature["kind"] for feature in plain["features"]}  # unused functions are warned of
    used = _NUMBERS * ("numeric" in kinds) + _LEVELS * ("categorical" in kinds) + _PRODUCTS
    text = "\n".join(parts) + "\n" + used + _find_bins(plain["features"], fields) + _SUM
    has_classes = len(plain["sums"]) > 1
    text += ("" if has_classes else _ONE_SUM) + _PREDICT[plain["link"]]
    if not explain:
        return text
    if has_classes:
        return text + _names_by_class(plain) + _EXPLAIN_CLASSES
    return text + _names(plain) + _EXPLAIN


def _constants(plain: dict[str, Any]) -> str:
    sums = plain["sums"]
    most = max(len(terms["effects"]) + len(terms["stages"]) for terms in sums)
    lines = [
        f"#define N_FEATURES {len(plain['features'])}",
        f"#define N_PARTS {most} /* main effects and stages{', at most' * (len(sums) > 1)} */",
    ]
    if len(sums) == 1:
        lines.append(f"#define INTERCEPT ({sums[0]['intercept']!r})")
    else:
        lines.append(f"#define N_CLASSES {len(sums)}")
    return "\n".join(
        [
            *lines,
            f"#define LARGEST_LOG {LARGEST_LOG!r} /* of a product; more is beyond all numbers */",
            f"#define LARGEST_SUM {LARGEST_LINKED!r} /* its exponential is nearly the largest */",
            "#define LARGEST 1.7976931348623157e308",
        ]
    )


def _row_struct(features: list[dict[str, Any]], fields: list[str]) -> str:
    lines = []
    for feature, field in zip(features, fields, strict=True):
        is_number = feature["kind"] == "numeric"
        kind = "double " if is_number else "const char *"
        missing = "NAN" if is_number else "text in UTF-8, NULL"
        lines.append(f"    {kind}{field}; /* {_comment(feature['name'])}; {missing} if missing */")
    return "\nstruct row {\n" + "\n".join(lines) + "\n};\n"


def _bins(features: list[dict[str, Any]]) -> list[str]:
    """Edges of numbers, and levels in the order of their bytes, by which they are looked up."""
    parts = []
    for j, feature in enumerate(features):
        if feature["kind"] == "numeric":
            parts.append(_array("double", f"edges_{j}", numbers(feature["edges"], "INFINITY")))
            continue
        known = sorted((_bytes(level), b) for level, b in level_bins(feature).items())
        # A text of C ends at the first zero byte: no row can have a level with one.
        pairs = [f"{{{_literal(level)}, {b}}}" for level, b in known if b"\0" not in level]
        rows = "".join(f"    {pair},\n" for pair in pairs) or "    {NULL, 0},\n"
        parts.append(f"#define N_NAMES_{j} {len(pairs)}")
        parts.append(f"static const seplearn_level levels_{j}[] = {{\n{rows}}};")
    return parts


def _find_bins(features: list[dict[str, Any]], fields: list[str]) -> str:
    lines = []
    for j, (feature, field) in enumerate(zip(features, fields, strict=True)):
        if feature["kind"] == "numeric":
            call = f"bin_of_number(edges_{j}, {len(feature['edges'])}, row->{field})"
        else:
            sizes = f"N_NAMES_{j}, {len(feature['levels'])}"
            call = f"bin_of_level(levels_{j}, {sizes}, row->{field})"
        lines.append(f"    bins[{j}] = {call};")
    body = "\n".join(lines)
    return f"\nstatic void find_bins(const struct row *row, int *bins)\n{{\n{body}\n}}\n"


def _sums(sums: Sequence[dict[str, Any]]) -> str:
    rows = [
        f"{{{terms['intercept']!r}, {len(terms['effects'])}, sum_{k}_effects, "
        f"{len(terms['stages'])}, sum_{k}_stages}}"
        for k, terms in enumerate(sums)
    ]
    return listed(rows, "static const seplearn_sum sums[] = {", "};")


def _curves(own: str, terms: dict[str, Any]) -> list[str]:
    """All curves, and the tables of main effects, products and stages that point to them."""
    parts, effects, stages = [], [], []
    for k, effect in enumerate(terms["effects"]):
        name = f"{own}_effect_{k}"
        parts.append(_array("double", name, numbers(effect["values"], "INFINITY")))
        effects.append(f"{{{effect['feature']}, {name}}}")
    for s, stage in enumerate(terms["stages"]):
        products = []
        for p, product in enumerate(stage["products"]):
            name = f"{own}_stage_{s}_{p}"
            parts += _product_curves(name, product["curves"])
            scale = f"{float(product['sign'])!r}, {product['log_scale']!r}"
            products.append(f"{{{scale}, {len(product['curves'])}, {name}}}")
        parts.append(f"/* stage {s}: {_comment(stage['name'])} */")
        name = f"{own}_stage_{s}"
        parts.append(_array("seplearn_product", name, products, "{0, 0, 0, NULL}"))
        stages.append(f"{{{len(products)}, {name}}}")
    parts.append(_array("seplearn_effect", f"{own}_effects", effects, "{0, NULL}"))
    parts.append(_array("seplearn_stage", f"{own}_stages", stages, "{0, NULL}"))
    return parts


def _product_curves(name: str, curves: list[dict[str, Any]]) -> list[str]:
    parts, rows = [], []
    for c, curve in enumerate(curves):
        own, signs = f"{name}_{c}", "NULL"
        parts.append(_array("double", own, numbers(curve["log_size"], "INFINITY")))
        if "negative" in curve:
            signs = f"{own}_negative"
            parts.append(_array("unsigned char", signs, [str(int(b)) for b in curve["negative"]]))
        rows.append(f"{{{curve['feature']}, {own}, {signs}}}")
    return [*parts, _array("seplearn_curve", name, rows, "{0, NULL, NULL}")]


def _part_names(plain: dict[str, Any], terms: dict[str, Any]) -> list[str]:
    names = [f"main effect of {plain['features'][e['feature']]['name']}" for e in terms["effects"]]
    names += [f"stage {s}: {stage['name']}" for s, stage in enumerate(terms["stages"])]
    return [_text(name) for name in names] or ["NULL"]


def _names(plain: dict[str, Any]) -> str:
    rows = _part_names(plain, plain["sums"][0])
    return "\n" + listed(rows, "const char *const part_names[] = {", "};") + "\n"


def _names_by_class(plain: dict[str, Any]) -> str:
    """Constants, numbers of parts and their names, of every class."""
    sums = plain["sums"]
    sizes = [str(len(terms["effects"]) + len(terms["stages"])) for terms in sums]
    names = [listed(_part_names(plain, terms), "{", "}") for terms in sums]
    lists = [
        joined(numbers([t["intercept"] for t in sums], "INFINITY"),
               "const double intercepts[N_CLASSES] = {", "};"),
        joined(sizes, "const int n_parts[N_CLASSES] = {", "};"),
        listed(names, "const char *const part_names[N_CLASSES][N_PARTS + 1] = {", "};"),
    ]  # fmt: skip
    return "\n" + "\n".join(lists) + "\n"


def _array(kind: str, name: str, items: Sequence[str], nothing: str = "0") -> str:
    """An array; one that would be empty, which C has not, gets an item that is not read."""
    return joined(items or [nothing], f"static const {kind} {name}[] = {{", "};")


def _field_names(names: Sequence[str]) -> list[str]:
    """A C name for every feature, like its own and unlike all others."""
    fields: list[str] = []
    for j, name in enumerate(names):
        plain = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_")[:60]
        taken = plain in _KEYWORDS or _MACROS.fullmatch(plain)
        fits = re.match(r"[A-Za-z]", plain) and not taken
        field = plain if fits else f"x{j}_{plain}".rstrip("_")
        while field in fields:
            field += f"_{j}"
        fields.append(field)
    return fields


def _comment(name: str) -> str:
    return ascii(name).replace("*/", "* /").replace("/*", "/ *")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(text: str) -> str:
    return _literal(_bytes(text))


def _literal(data: bytes) -> str:
    """Bytes as a text of C: what is not plainly harmless becomes three octal digits."""
    return '"' + "".join(chr(b) if b in _PLAIN else f"\\{b:03o}" for b in data) + '"'
