set -e
sh ../openapi-generator.sh java generated --additional-properties=apiPackage=annal.api,modelPackage=annal.model,invokerPackage=annal,useSingleRequestParameter=true \
  --global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false
