"""Model families of Hugging Face Transformers: how a config.json is read and written.

`known` has the families, one file each; `config` reads a config.json with the one that its
`model_type` names; `registry` says which family has the blocks of an architecture.
"""
