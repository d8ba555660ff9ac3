"""Self-contained HTML reports about models of tables."""
