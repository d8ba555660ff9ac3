"""Your own table: reading it, learning from it, saving the model, and predictions for new rows."""
