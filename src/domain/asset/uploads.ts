/** Files on their way in: on disk, and not paid for yet. */
import type { Actor } from '../actor.ts'
import { DomainError, throttled } from '../errors.ts'
import type { HeldFile, Pieces, UploadFolder } from '../ports/files.ts'
import type { OnError } from '../ports/log.ts'
import type { Meter } from '../telemetry.ts'
import type { UnpaidBytes } from './unpaid-bytes.ts'

/** A file on its way in. */
export interface IncomingFile {
  /** As the sender named it. */
  filename: string
  /** As the sender said; may be empty. */
  mimeType: string
  /** Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
  open(): Pieces
}

/** A file that a request announces. It is not taken from the network before somebody asks for it. */
export class Upload {
  /** Raises PARSE_ERROR when it does not come, PAYLOAD_TOO_LARGE, THROTTLED, INSUFFICIENT_STORAGE, UNAVAILABLE. */
  readonly file: () => Promise<IncomingFile>

  constructor(file: () => Promise<IncomingFile>) {
    this.file = file
  }
}

/** The files of one request. */
export interface Intake {
  /** Takes a file to disk. Raises what its stream raises, THROTTLED, INSUFFICIENT_STORAGE, UNAVAILABLE. */
  hold(file: { filename: string; mimeType: string; bytes: AsyncIterable<Uint8Array> }): Promise<IncomingFile>
  /** To be called when the request is over, whatever came of it, before it is answered: then there is room for the next one. */
  close(): Promise<void>
}

/** How the doors read a body; `Request` is the server's. Each raises PAYLOAD_TOO_LARGE, PARSE_ERROR, UNAVAILABLE. */
export interface BodyReaders<Request> {
  readText: (req: Request, maxBytes: number) => Promise<string>
  /** `whole` rejects with these and with what the takers raise. */
  readForm: (
    req: Request,
    parts: {
      maxBytes: number
      maxFileBytes: number
      maxFiles: number
      /** Whether a part of this name is a field though it comes as a file. */
      isText?(name: string): boolean
      /** Of what could not be read the value is not what was sent. */
      onField(name: string, value: string, isSound: boolean): void
      /** Undefined: nobody asked for it. */
      onFile(name: string, file: Parameters<Intake['hold']>[0]): Promise<void> | undefined
    },
  ) => { whole: Promise<void>; cancel(): void }
  /** Of everything but files. */
  maxBytes: number
  maxFileBytes: number
  /** Of a form that `readText` reads. */
  maxFields: number
}

/** Seconds after which somebody may try again whose other uploads are under way. */
const PATIENCE_SECONDS = 10

/** Bytes that a request takes room for at once which does not say how long it is. */
const STEP_BYTES = 1_000_000

/** Takes files of requests in, and counts them; what `createUploads` makes. */
export type Uploads = ReturnType<typeof createUploads>

/**
 * An account has at most so much under way at a time, at all processes together. A request counts as a whole from its first file on; one that
 * does not say how long it is, in steps of a megabyte, or of what is left.
 */
export function createUploads({
  folder,
  unpaidBytes,
  meter,
}: {
  folder: UploadFolder
  unpaidBytes: UnpaidBytes
  meter: Meter
}) {
  const ownerOf = (actor: Actor) => (actor.kind === 'user' ? actor.id : actor.kind)
  let underWay = 0

  function refuse(): never {
    meter.limitRefused('unpaid-bytes')
    throw throttled(PATIENCE_SECONDS)
  }

  return {
    /** Raises THROTTLED when so many bytes more would be more than the actor may have under way at this process alone. */
    assertRoom(actor: Actor, bytes: number) {
      if (!unpaidBytes.hasRoomHere(ownerOf(actor), bytes)) refuse()
    },

    /** The files of a request of the actor, which is to close them. `declaredBytes`: as long as the request says that it is; 0 when it does not. */
    open(actor: Actor, declaredBytes: number): Intake {
      const owner = ownerOf(actor)
      const files: HeldFile[] = []
      let taken = 0
      let room = 0
      let isClosed = false

      const assertOpen = () => {
        if (isClosed) throw new DomainError('PARSE_ERROR', 'The request is over.')
      }
      async function makeRoom(needed: number, wanted: number) {
        const granted = await unpaidBytes.take(owner, needed, wanted)
        if (granted === 0) refuse()
        room += granted
        // Its request ended meanwhile.
        if (isClosed) await giveBack()
      }
      async function giveBack() {
        const bytes = room
        room = 0
        if (bytes > 0) await unpaidBytes.giveBack(owner, bytes)
      }
      async function take(bytes: number) {
        assertOpen()
        const lacking = taken + bytes - room
        if (lacking > 0) await makeRoom(lacking, Math.max(lacking, STEP_BYTES))
        assertOpen()
        taken += bytes
        underWay += bytes
      }
      const release = () => Promise.all(files.splice(0).map((file) => file.release()))
      return {
        async hold({ filename, mimeType, bytes }) {
          if (room < declaredBytes) await makeRoom(declaredBytes - room, declaredBytes - room)
          const file = await folder.hold(bytes, take).catch((error: unknown) => {
            meter.fileRefused()
            throw error
          })
          meter.fileTaken(file.size)
          files.push(file)
          if (isClosed) await release()
          return { filename, mimeType, open: () => file.bytes() }
        },
        async close() {
          if (isClosed) return
          isClosed = true
          underWay -= taken
          await release()
          await giveBack()
        },
      }
    },

    /** Bytes that are under way at this process. */
    bytesUnderWay: () => underWay,

    /** Tells the other processes again how much is under way here. Raises UNAVAILABLE. */
    tellUnderWay: unpaidBytes.tellAll,

    /** Removes what crashes left behind, and what processes said that are gone. */
    async sweep(onError: OnError) {
      await folder.sweep(3_600, onError)
      await unpaidBytes.forget()
    },
  }
}
