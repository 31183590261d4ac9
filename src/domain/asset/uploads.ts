/** Files on their way in: on disk, and not paid for yet. */
import type { Actor } from '../actor.ts'
import { DomainError, throttled } from '../errors.ts'
import type { HeldFile, OnError, UploadFolder } from '../ports.ts'
import type { Meter } from '../telemetry.ts'

/** A file on its way in. */
export interface IncomingFile {
  /** As the sender named it. */
  filename: string
  /** As the sender said; may be empty. */
  mimeType: string
  /** Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
  open(): AsyncIterable<Uint8Array>
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
  /** To be called when the request is over, whatever came of it. */
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
      onField(name: string, value: string): void
      /** Undefined: nobody asked for it. */
      onFile(name: string, file: Parameters<Intake['hold']>[0]): Promise<void> | undefined
    },
  ) => { whole: Promise<void>; cancel(): void }
  /** Of everything but files. */
  maxBytes: number
  maxFileBytes: number
}

/** Seconds after which somebody may try again whose other uploads are under way. */
const PATIENCE_SECONDS = 10

/** Takes files of requests in, and counts them; what `createUploads` makes. */
export type Uploads = ReturnType<typeof createUploads>

/**
 * An account has at most `megabytesPerUser` (10^6 bytes) under way at a time. Counted in memory: the bytes are on this
 * process's disk, and gone with their request.
 */
export function createUploads({
  folder,
  megabytesPerUser,
  meter,
}: {
  folder: UploadFolder
  megabytesPerUser: number
  meter: Meter
}) {
  const most = megabytesPerUser * 1_000_000
  const underWay = new Map<string, number>()
  const ownerOf = (actor: Actor) => (actor.kind === 'user' ? actor.id : actor.kind)

  function add(owner: string, bytes: number) {
    const sum = (underWay.get(owner) ?? 0) + bytes
    if (sum > 0) underWay.set(owner, sum)
    else underWay.delete(owner)
  }

  function assertOwnerHasRoom(owner: string, bytes: number) {
    if ((underWay.get(owner) ?? 0) + bytes <= most) return
    meter.limitRefused('unpaid-bytes')
    throw throttled(PATIENCE_SECONDS)
  }

  return {
    /** Raises THROTTLED when so many bytes more would be more than the actor may have under way. */
    assertRoom: (actor: Actor, bytes: number) => assertOwnerHasRoom(ownerOf(actor), bytes),

    /** The files of a request of the actor, which is to close them. */
    open(actor: Actor): Intake {
      const owner = ownerOf(actor)
      const files: HeldFile[] = []
      let taken = 0
      let isClosed = false
      const take = (bytes: number) => {
        if (isClosed) throw new DomainError('PARSE_ERROR', 'The request is over.')
        assertOwnerHasRoom(owner, bytes)
        taken += bytes
        add(owner, bytes)
      }
      const release = () => Promise.all(files.splice(0).map((file) => file.release()))
      return {
        async hold({ filename, mimeType, bytes }) {
          const file = await folder.hold(bytes, take).catch((error: unknown) => {
            meter.fileRefused()
            throw error
          })
          meter.fileTaken(file.size)
          files.push(file)
          // Its request ended meanwhile.
          if (isClosed) await release()
          return { filename, mimeType, open: () => file.bytes() }
        },
        async close() {
          if (isClosed) return
          isClosed = true
          add(owner, -taken)
          await release()
        },
      }
    },

    /** Bytes that are under way. */
    bytesUnderWay: () => [...underWay.values()].reduce((sum, bytes) => sum + bytes, 0),

    /** Removes what crashes left behind. */
    sweep: (onError: OnError) => folder.sweep(3_600, onError),
  }
}
