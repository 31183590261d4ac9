import type { CodegenConfig } from '@graphql-codegen/cli'

/** Types of the operations that stand in `src`. In a project of your own the schema is `https://…/graphql`, or a copy of the file. */
const config: CodegenConfig = {
  schema: process.env.ANNAL_SCHEMA ?? '../../schema.graphql',
  documents: ['src/**/*.tsx', 'src/**/*.ts', '!src/gql/**'],
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: { unmaskFunctionName: 'readFragment' } },
      config: {
        useTypeImports: true,
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
        strictScalars: true,
        scalars: {
          Address: 'string',
          CID: 'string',
          DateTime: 'string',
          // Money is text: a JavaScript number would round it.
          Decimal: 'string',
          ID: 'string',
          JSONObject: 'Record<string, unknown>',
          Upload: 'File',
        },
      },
    },
  },
}

export default config
