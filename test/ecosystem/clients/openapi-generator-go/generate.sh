set -e
sh ../openapi-generator.sh go annal --additional-properties=packageName=annal,withGoMod=false,disallowAdditionalPropertiesIfNotPresent=false \
  --global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false
