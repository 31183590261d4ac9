/** The fields of a dry run: it tells everything that is wrong with them at once, so none of them stops the reading. */
import { Upload } from 'graphql-upload-ts'
import { DomainError, type FieldErrors } from '../../shared/errors.ts'
import type { Fields } from './fields.ts'

/** Fields that leave out what cannot be read, and note why in `unread`. A missing file is told by the one who opens it. */
export function lenientFields(fields: Fields, unread: FieldErrors): Fields {
  const lenient =
    <Arguments extends unknown[], Value>(read: (...args: Arguments) => Value) =>
    (...args: Arguments): Value | undefined => {
      try {
        return read(...args)
      } catch (error) {
        if (!(error instanceof DomainError) || typeof error.details !== 'object') throw error
        Object.assign(unread, error.details)
        return undefined
      }
    }
  return {
    text: lenient((name) => fields.text(name)),
    exactText: lenient((name) => fields.exactText(name)),
    textOrNull: lenient((name) => fields.textOrNull(name)),
    choice: lenient((name, known) => fields.choice(name, known)) as Fields['choice'],
    amount: lenient((name) => fields.amount(name)),
    flag: lenient((name) => fields.flag(name)),
    object: lenient((name) => fields.object(name)),
    list: lenient((name) => fields.list(name)),
    all: fields.all,
    json: lenient((name) => fields.json(name)),
    uploadOrNull: lenient((name) => fields.uploadOrNull(name)),
    upload(name) {
      try {
        return fields.upload(name)
      } catch (error) {
        const upload = new Upload()
        upload.reject(error as Error)
        return upload
      }
    },
  }
}
