set -e
curl --fail --silent --show-error --output schema.graphql "${ANNAL_URL:-http://localhost:4000}/schema.graphql"
go tool genqlient
