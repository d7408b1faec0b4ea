"""The studies by name, in the order of the pages."""

from __future__ import annotations

from types import ModuleType

from studies import approximation, bimodal_bags, cancellation, identifiability, masked_interaction

STUDIES: dict[str, ModuleType] = {
    "masked_interaction": masked_interaction,
    "bimodal_bags": bimodal_bags,
    "approximation": approximation,
    "identifiability": identifiability,
    "cancellation": cancellation,
}
