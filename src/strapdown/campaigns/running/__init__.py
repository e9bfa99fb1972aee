"""Runs the keys of a campaign: batches on Dask workers, parts of a Parquet data set, resumption."""
