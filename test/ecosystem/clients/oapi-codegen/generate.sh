set -e
curl --fail --silent --show-error --output openapi.json "${ANNAL_URL:-http://localhost:4000}/api/v3/openapi.json"
go tool oapi-codegen -config oapi-codegen.yaml openapi.json
