import { validationFailed } from '../domain/errors.ts'

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** What Pothos writes into a cursor: the unique columns of a row. A stranger's cursor may decode to anything. */
const forms = {
  id: new RegExp(`^GPC:S:${uuid}$`),
  assetId_sequence: new RegExp(`^GPC:T:\\["S:${uuid}","N:\\d{1,9}"\\]$`),
}

/** Characters, above those of any form: what is longer is not even read. */
const LONGEST = 200

/** Refuses cursors that no page of this kind gave out. Raises VALIDATION_FAILED. */
export function assertCursors(
  kind: keyof typeof forms,
  { after, before }: { after?: string | null; before?: string | null },
): void {
  for (const [name, cursor] of Object.entries({ after, before })) {
    if (cursor == null) continue
    if (cursor.length > LONGEST || !forms[kind].test(Buffer.from(cursor, 'base64').toString())) {
      throw validationFailed({ [name]: ['Not a cursor of this connection.'] })
    }
  }
}
