"""The table entering: from columns of values to columns of bins."""
