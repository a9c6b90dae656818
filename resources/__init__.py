"""Data that ships with the program.

`sh` contains the functions that run on servers, and `script` the runner of an exported script. There are also suites,
catalogues of languages, schemas of JSON documents, icons, fonts, the example, and the template of the report.
"""
