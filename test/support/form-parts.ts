/** Forms as bytes, for those who send them bit by bit, or wrongly. */
export const BOUNDARY = 'an-end-of-parts'
export const formType = `multipart/form-data; boundary=${BOUNDARY}`

/** The beginning of a part of a form; a file's when it has a name. */
export const partHead = (name: string, filename?: string, type = 'image/png') => {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: ${type}`
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`
}

export const part = (name: string, value: string) => `${partHead(name)}${value}\r\n`

/** The end of a form that ends in a file. */
export const formEnd = `\r\n--${BOUNDARY}--\r\n`

/** The fields before the file of a registration by GraphQL, whose name is `0`. */
export const registrationByGraphQL =
  part(
    'operations',
    JSON.stringify({
      query: 'mutation ($file: Upload!) { registerAsset(input: { assetFile: $file }) { asset { id } } }',
      variables: { file: null },
    }),
  ) + part('map', '{"0":["variables.file"]}')
