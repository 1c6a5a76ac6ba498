"""Questions on what a lever costs, by what it keeps busy: products, links or the host."""
