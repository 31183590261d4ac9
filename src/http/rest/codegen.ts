/** Configuration of the code generator for the types of the GraphQL operations of REST routes and HTML pages. */
import type { CodegenConfig } from '@graphql-codegen/cli'

/** Returns the configuration of one set of operations. `timeType`: the TypeScript type of a DateTime in a response. */
const typesOf = (documents: string | string[], timeType: string) => ({
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
      DateTime: { input: 'Date', output: timeType },
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

// GraphQL Code Generator requires a default export.
export default config
