/** The page at `/`: what this is, and where everything stands. */
import { html } from 'hono/html'

export const homePage = (publicUrl: string) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Annal</title>
    <style>
      body { font: 1.0625rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 3rem auto; padding: 0 1.25rem; color: #1b1f24; background: #fff; }
      h1 { font-size: 1.75rem; line-height: 1.2; margin-bottom: 0.25rem; }
      dt { font-weight: 600; margin-top: 1rem; }
      dd { margin: 0; }
      a { color: #0b57d0; }
      code { background: #f3f4f6; padding: 0.1rem 0.3rem; border-radius: 0.25rem; overflow-wrap: anywhere; }
      @media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #14171a; } a { color: #8ab4f8; } code { background: #24292f; } }
    </style>
  </head>
  <body>
    <main>
      <h1>Annal</h1>
      <p>Registers assets, records every change of their metadata on a blockchain, and keeps accounts with wallets.</p>
      <dl>
        <dt>Playground</dt>
        <dd><a href="/graphql">${publicUrl}/graphql</a> opens on working examples.</dd>
        <dt>GraphQL</dt>
        <dd><code>POST ${publicUrl}/graphql</code></dd>
        <dt>REST</dt>
        <dd><code>${publicUrl}/api/v3/</code></dd>
        <dt>Files</dt>
        <dd><code>${publicUrl}/ipfs/&lt;nid&gt;</code>, also with <code>?format=raw</code> and <code>?format=car</code>.</dd>
        <dt>Health</dt>
        <dd><a href="/readyz">${publicUrl}/readyz</a></dd>
      </dl>
    </main>
  </body>
</html>`
