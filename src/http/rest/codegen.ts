/** `npm run generate`: types of the operations that the REST routes and the pages for administrators execute. */
import type { CodegenConfig } from '@graphql-codegen/cli'

/** `moment`: what an answer holds where the schema says DateTime. */
const typesOf = (documents: string | string[], moment: string) => ({
  documents,
  preset: 'client' as const,
  presetConfig: { fragmentMasking: false },
  config: {
    useTypeImports: true,
    enumsAsConst: true,
    importExtension: '.ts' as const,
    emitLegacyCommonJSImports: false,
    avoidOptionals: { field: true },
    scalars: {
      Address: 'string',
      CID: 'string',
      DateTime: { input: 'Date', output: moment },
      Decimal: 'string',
      JSONObject: 'Record<string, unknown>',
      Upload: 'unknown',
    },
  },
})

const config: CodegenConfig = {
  schema: 'schema.graphql',
  ignoreNoDocuments: true,
  generates: {
    'src/http/rest/generated/': typesOf(['src/modules/*/*.ts', '!src/modules/admin/*.ts'], 'Date'),
    'src/modules/pages/generated/': typesOf(
      ['src/modules/admin/*.ts', 'src/modules/pages/asset/*.ts', 'src/modules/pages/lookup/*.ts'],
      'string',
    ),
  },
}

// The tool reads its configuration from the default export.
export default config
