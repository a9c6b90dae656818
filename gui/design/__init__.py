"""How the window looks, declared once: colours, type, spacing, icons, and the style that paints with them."""
