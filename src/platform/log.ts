import { pino } from 'pino'
import type { Log } from '../domain/ports.ts'

/** JSON lines on stderr. Names that hold secrets are censored wherever they turn up. */
export const createLog = (level: string): Log =>
  pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'authorization',
          'token',
          'password',
          'apiKey',
          '*.authorization',
          '*.token',
          '*.password',
          '*.apiKey',
          '*["x-api-key"]',
        ],
        censor: '[censored]',
      },
    },
    pino.destination({ dest: 2, sync: true }),
  ) as Log
