/** `npm run generate`: types of the operations that the REST routes execute. */
import type { CodegenConfig } from '@graphql-codegen/cli'

const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: ['src/rest/v3/*.ts'],
  ignoreNoDocuments: true,
  generates: {
    'src/rest/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsConst: true,
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
        avoidOptionals: { field: true },
        scalars: {
          Address: 'string',
          CID: 'string',
          DateTime: { input: 'Date', output: 'Date' },
          Decimal: 'string',
          JSONObject: 'Record<string, unknown>',
          Upload: 'unknown',
        },
      },
    },
  },
}

// The tool reads its configuration from the default export.
export default config
