"""Self-contained HTML reports about models of tables and about reproductions."""
