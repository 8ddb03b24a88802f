/** How the explorer of explanations looks, beyond what tables have. */
export const EXPLANATION_STYLE = `
.flowdelta .fd-split { cursor: pointer; }
.flowdelta .fd-split:hover rect { stroke: var(--fd-change); }
.flowdelta .fd-split:focus-visible { outline: none; }
.flowdelta .fd-split:focus-visible rect { stroke: var(--fd-focus); stroke-width: 2.5; }
.flowdelta .fd-tree { margin: 6px 0 2px; }
.flowdelta .fd-said { margin: 4px 0 8px; padding-left: 22px; max-width: 76em; }
.flowdelta .fd-said li { margin: 2px 0; overflow-wrap: anywhere; }
.flowdelta .fd-explanation > h3, .flowdelta .fd-explanation > div > h3 { margin-top: 12px; }
.flowdelta .fd-explanation > h3:first-child { margin-top: 0; }
.flowdelta .fd-parameters { width: 100%; }
.flowdelta .fd-taken { list-style: none; margin: 2px 0 6px; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 8px; }
.flowdelta .fd-taken button { max-width: 100%; overflow-wrap: anywhere; text-align: left; }
.flowdelta td button.fd-parameter { white-space: normal; overflow-wrap: anywhere; text-align: left; background: none; border-color: transparent; padding: 2px 4px; }
.flowdelta td button.fd-parameter:hover { border-color: var(--fd-line); }
.flowdelta .fd-shares td, .flowdelta .fd-shares th { padding: 1px 8px; border-bottom: 0; }
.flowdelta .fd-shares th { font-weight: 400; color: var(--fd-soft); }
.flowdelta .fd-left-out { margin-top: 8px; }
.flowdelta .fd-left-out ul { margin: 4px 0; padding-left: 22px; max-height: 180px; overflow: auto; }
.flowdelta .fd-unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`
