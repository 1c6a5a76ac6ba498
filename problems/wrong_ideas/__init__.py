"""Wrong ideas of a step: what its phases would come to if each were right."""
