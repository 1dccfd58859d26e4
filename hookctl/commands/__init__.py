"""The commands as people type them: their options, texts and examples, and the call of their verb.

It may import everything but `cli`; a verb and what it needs only inside a function, because a help
text names every command and needs none of that.
"""
