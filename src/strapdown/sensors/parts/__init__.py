"""Parts one can buy: data sheets, specimens, model files."""
