"""Joint refinement: rows in blocks, small curves, and the sweeps between them."""
