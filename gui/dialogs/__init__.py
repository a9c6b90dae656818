"""The dialogs. Each opens without a nested event loop, and answers by a signal."""
