set -e
sh ../openapi-generator.sh python generated --additional-properties=packageName=annal \
  --global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false
