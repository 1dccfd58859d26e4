"""The page of `hookctl report`: plain values become one HTML file, which loads nothing.

It may import `output`, `hooks` and the rooms below. It reads nothing but its template.

- model.py has the values that a page is made of, and html.py the few elements.
- attention.py, hooks.py, runs.py and decisions.py make one section each, plots.py their plots,
  and document.py puts them into the template.
"""
