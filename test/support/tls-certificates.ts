/** Certificates of a mail server, with their common key: valid, expired, and for another host. */
import { readFileSync } from 'node:fs'

const read = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8')
export const tlsKey = read('key')
export const validCertificate = read('valid')
export const expiredCertificate = read('expired')
export const elsewhereCertificate = read('elsewhere')
