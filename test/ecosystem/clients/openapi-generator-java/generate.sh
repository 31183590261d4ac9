set -e
packages=apiPackage=annal.api,modelPackage=annal.model,invokerPackage=annal
sh ../openapi-generator.sh java generated \
  --additional-properties=$packages,useSingleRequestParameter=true,disallowAdditionalPropertiesIfNotPresent=false \
  --global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false
