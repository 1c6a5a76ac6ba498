"""The colours of categories on pages."""

from collections.abc import Mapping

from engine.ledger import Category

# Told apart without red and green too: Okabe and Ito, Color Universal Design, 2008, and greys.
COLOURS: Mapping[Category, str] = {
    Category.WEIGHTS: "#0072b2",
    Category.MASTER_WEIGHTS: "#56b4e9",
    Category.GRADIENTS: "#f0e442",
    Category.OPTIMIZER_STATE: "#cc79a7",
    Category.ACTIVATIONS: "#009e73",
    Category.LOGITS: "#d55e00",
    Category.TEMPORARY: "#999999",
    Category.COMMUNICATION: "#e69f00",
    Category.KV_CACHE: "#555555",
}
