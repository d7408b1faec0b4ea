"""The studies by name, in the order of the pages."""

from __future__ import annotations

from types import ModuleType

from studies import (
    approximation,
    bike,
    bimodal_bags,
    california,
    cancellation,
    identifiability,
    longitude,
    main_effects,
    masked_interaction,
)

STUDIES: dict[str, ModuleType] = {
    "masked_interaction": masked_interaction,
    "bimodal_bags": bimodal_bags,
    "california": california,
    "bike": bike,
    "longitude": longitude,
    "main_effects": main_effects,
    "approximation": approximation,
    "identifiability": identifiability,
    "cancellation": cancellation,
}
