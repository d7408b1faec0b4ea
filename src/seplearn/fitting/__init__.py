"""The algorithms of the paper: from binned rows to stages."""
