/** Builds multipart forms as bytes, to send them slowly or malformed. */
export const BOUNDARY = 'an-end-of-parts'
export const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** Returns the header of a form part. With a file name, the part is a file. */
export const partHead = (name: string, filename?: string, type = 'image/png') => {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: ${type}`
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`
}

export const part = (name: string, value: string) => `${partHead(name)}${value}\r\n`

/** The end of a form whose last part is a file. */
export const formEnd = `\r\n--${BOUNDARY}--\r\n`

/** The fields before the file in a GraphQL registration. The file is the part `0`. */
export const registrationByGraphQL =
  part(
    'operations',
    JSON.stringify({
      query: 'mutation ($file: Upload!) { registerAsset(input: { assetFile: $file }) { asset { id } } }',
      variables: { file: null },
    }),
  ) + part('map', '{"0":["variables.file"]}')
