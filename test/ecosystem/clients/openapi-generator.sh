# Generates a client from the description of a running gateway: sh ../openapi-generator.sh <generator> <folder> [<option>…]
set -e
version=7.25.0
here=$(dirname "$0")
jar="$here/.openapi-generator/openapi-generator-cli-$version.jar"
if [ ! -f "$jar" ]; then
  mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
    -Dartifact="org.openapitools:openapi-generator-cli:$version" -DoutputDirectory="$(cd "$here" && pwd)/.openapi-generator"
fi
generator=$1
folder=$2
shift 2
rm -rf "$folder"
java -jar "$jar" generate --generator-name "$generator" --output "$folder" \
  --input-spec "${ANNAL_URL:-http://localhost:4000}/api/v3/openapi.json" "$@"
