"""The paper's studies, one file each: measured, drawn, and told on a page with figures and CSV."""
