set -e
.venv/bin/openapi-python-client generate --url "${ANNAL_URL:-http://localhost:4000}/api/v3/openapi.json" --meta none --output-path generated \
  --overwrite --config openapi-python-client.yaml --fail-on-warning
