/** How the explorer of what-if lies: sliders beside the profile where there is room. */
export const WHAT_IF_STYLE = `
.flowdelta .fd-what-if { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: flex-start; }
.flowdelta .fd-what-if > div { flex: 1 1 360px; min-width: 0; }
.flowdelta .fd-what-if > div:first-child { flex-basis: 430px; }
.flowdelta .fd-what-if-sliders { max-height: 340px; border-bottom: 1px solid var(--fd-line); }
.flowdelta .fd-what-if-sliders table { width: 100%; }
.flowdelta .fd-what-if-sliders th, .flowdelta .fd-what-if-sliders td { padding: 3px 5px; }
.flowdelta .fd-what-if-sliders thead th { z-index: 1; }
.flowdelta .fd-what-if-cause-list { max-height: 440px; }
.flowdelta .fd-what-if-cause-list thead th { z-index: 1; }
.flowdelta .fd-what-if-sliders input[type="range"] { display: block; width: 104px; accent-color: var(--fd-change); margin: 0; }
.flowdelta .fd-what-if-sliders input[type="number"] { width: 4em; padding: 2px 4px; text-align: right; }
.flowdelta .fd-what-if-name { max-width: 170px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.flowdelta th.fd-what-if-name { font-weight: normal; }
.flowdelta .fd-what-if-chips { display: flex; flex-wrap: wrap; gap: 4px; margin: 4px 0; min-height: 1.8em; }
.flowdelta .fd-what-if-chips button { max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.flowdelta .fd-what-if-numbers th, .flowdelta .fd-what-if-numbers td { padding: 3px 5px; }
.flowdelta .fd-what-if-numbers .fd-what-if-name { max-width: 130px; }
.flowdelta .fd-what-if-causes th, .flowdelta .fd-what-if-causes td { padding: 4px 6px; }
.flowdelta .fd-what-if-causes td:first-child { min-width: 19em; overflow-wrap: anywhere; text-indent: -18px; }
.flowdelta .fd-what-if-causes tr:focus-visible { outline-offset: -2px; }
.flowdelta .fd-what-if-fold { display: inline-block; width: 18px; padding: 0; border: 0; background: none; text-align: center; text-indent: 0; }
`
