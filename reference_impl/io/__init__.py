"""What every shell stands on: carriers of messages and bytes, a conversation over one, a timer. No rule of any protocol.

carrier       what a transport owes whoever uses it, and its one hang-up
listener      accepts on one port and hands each carrier to whoever handles it
websocket     messages over WebSocket, dialled or accepted
tcp           bytes over TCP, dialled or accepted
loopback      messages between two ends in one process
conversation  one machine's end of a carrier: reads one at a time, writes that never block a turn
durable       a server that makes what one turn of the loop brought durable once, then says it
sqlite        a durable half in one file
timer         ticks when a machine's next deadline has come
serving       a reference on the command line, until it is interrupted
"""
