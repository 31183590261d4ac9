import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const { ANNAL_URL = 'http://localhost:4000', ANNAL_API_KEY } = process.env

/**
 * What serves the page passes /graphql on, so that the browser speaks to one origin. It also is the trusted service that orders
 * need: it adds the API key, which must never reach the browser.
 */
const proxy = {
  '/graphql': {
    target: ANNAL_URL,
    changeOrigin: true,
    xfwd: true,
    headers: ANNAL_API_KEY ? { 'x-api-key': ANNAL_API_KEY } : undefined,
  },
}

/** Scripts, styles and requests of this origin alone; pictures of assets come from the gateway. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  `img-src 'self' blob: ${new URL(ANNAL_URL).origin}`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

export default defineConfig({
  plugins: [react()],
  server: { proxy },
  preview: { proxy, headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' } },
})
