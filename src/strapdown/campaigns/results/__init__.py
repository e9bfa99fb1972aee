"""What a campaign found: statistics, sensitivity, tables, figures, report."""
