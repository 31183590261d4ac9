import type { HeldFile, Pieces, UploadFolder } from '../../files/file-types.ts'
import type { ConcurrencyCounter } from '../../shared/concurrency-counter.ts'
import { DomainError, throttled } from '../../shared/errors.ts'
import type { OnError } from '../../shared/log.ts'
import type { Actor } from '../../shared/policy.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'

/** An uploaded file, with some properties of `FileUpload` (`graphql-upload-ts`). */
export interface IncomingFile {
  filename: string
  /** Media type of the form part. It may be empty. */
  mimetype: string
  /** Reads the file. Can be called repeatedly. Throws PAYLOAD_TOO_LARGE, PARSE_ERROR, THROTTLED and storage errors. */
  createReadStream(): Pieces
}

export interface Intake {
  /** Writes a file to disk. Throws the errors of its stream, THROTTLED, INSUFFICIENT_STORAGE, UNAVAILABLE. */
  hold(file: { filename: string; mimetype: string; bytes: AsyncIterable<Uint8Array> }): Promise<IncomingFile>
  /** Deletes the files and releases their quota. Must be called before the response is sent. */
  close(): Promise<void>
}

/** Number of bytes to reserve per step for a request without a content length. */
const STEP_BYTES = 1_000_000

export type Uploads = ReturnType<typeof createUploads>

interface UploadParts {
  folder: UploadFolder
  counter: ConcurrencyCounter
  maxBytes: number
  meter: Meter
}

/** Limits the bytes that one account uploads concurrently, across all processes, to `maxBytes`. */
export function createUploads({ folder, counter, maxBytes, meter }: UploadParts) {
  const subjectOf = (actor: Actor) => `uploads:${actor.kind === 'user' ? actor.id : actor.kind}`
  let inProgress = 0
  meter.gauge('annal_upload_in_progress_bytes', () => inProgress)

  function reject(): never {
    meter.count('annal_limit_rejections_total', { limit: 'upload-megabytes' })
    throw throttled(10)
  }

  return {
    /** Throws THROTTLED if this process alone has no room for this many bytes from the actor. */
    assertRoom(actor: Actor, bytes: number) {
      if (!counter.hasRoomHere(subjectOf(actor), { max: maxBytes, needed: bytes })) reject()
    },

    /** Opens the files of a request. The caller must close the result. `declaredBytes`: content length, or 0. */
    open(actor: Actor, declaredBytes: number): Intake {
      const subject = subjectOf(actor)
      const files: HeldFile[] = []
      let received = 0
      let room = 0
      let isClosed = false

      const assertOpen = () => {
        if (isClosed) throw new DomainError('PARSE_ERROR', 'The request has ended, so no file can be read from it.')
      }
      async function acquire(needed: number, wanted: number) {
        const granted = await counter.acquire(subject, { max: maxBytes, needed, wanted })
        if (granted === 0) reject()
        room += granted
        // The request may have ended during the wait.
        if (isClosed) await releaseRoom()
      }
      async function releaseRoom() {
        const bytes = room
        room = 0
        if (bytes > 0) await counter.release(subject, bytes)
      }
      async function receive(bytes: number) {
        assertOpen()
        const missing = received + bytes - room
        if (missing > 0) await acquire(missing, Math.max(missing, STEP_BYTES))
        assertOpen()
        received += bytes
        inProgress += bytes
      }
      const releaseFiles = () => Promise.all(files.splice(0).map((file) => file.release()))
      return {
        async hold({ filename, mimetype, bytes }) {
          // The first file of a request reserves the whole content length.
          if (room < declaredBytes) await acquire(declaredBytes - room, declaredBytes - room)
          const file = await folder.hold(bytes, receive).catch((error: unknown) => {
            meter.count('annal_uploads_total', { outcome: 'rejected' })
            throw error
          })
          meter.count('annal_uploads_total', { outcome: 'accepted' })
          meter.count('annal_upload_bytes_total', {}, file.size)
          files.push(file)
          if (isClosed) await releaseFiles()
          return { filename, mimetype, createReadStream: () => file.bytes() }
        },
        async close() {
          if (isClosed) return
          isClosed = true
          inProgress -= received
          await releaseFiles()
          await releaseRoom()
        },
      }
    },

    async deleteAbandoned(onError: OnError) {
      await folder.sweep(3_600, onError)
    },
  }
}
