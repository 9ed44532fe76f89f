"""What each command of `latecomer` does. Imported only when its command runs."""
